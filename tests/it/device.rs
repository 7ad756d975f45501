//! Estimates for devices, delays by device, and clocks that are met.

use crate::common::{body, model, run};
use alir_testing::random;
use alir2hdl::compile::{self, Passes, Products, Spec, Stages};
use alir2hdl::device::{Delays, Device, Estimate, Resources};
use alir2hdl::emit::Language;
use alir2hdl::formats;
use alir2hdl::ir::{Builder, Limits, Model, Op, Output, Term, ValueId};
use alir2hdl::netlist::{Adders, Fabric, Multipliers, Options, ResetOptions, lower, uses_with, uses_with_blocks};
use alir2hdl::num::{Interval, SplitMix};
use alir2hdl::schedule::{Delay, Effort, Goal, Schedule, default_delay, schedule};
use serde_json::Value;
use std::path::Path;

#[track_caller]
fn info(name: &str, options: &[&str]) -> Value {
    let here = Path::new(".");
    let (code, stdout, stderr) = run(here, &[&["info", &model(name), "--json"], options].concat());
    assert_eq!(code, 0, "{stderr}");
    serde_json::from_str(&stdout).expect("JSON")
}

#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, _, stderr) = run(folder.path(), arguments);
    assert_eq!(code, 2, "{stderr}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing may be written");
    stderr
}

fn combinational(model: &Model) -> alir2hdl::netlist::Netlist {
    lower(model, &Schedule::combinational(model.nodes().len()), &Options::default())
}

#[test]
fn unknown_devices_are_refused_with_the_nearest() {
    let bits = model("bit_logic");
    let said = refused(&["info", &bits, "--device", "epc5"]);
    assert!(said.contains("did you mean ecp5?") && said.contains("7series"), "{said}");
    let said = refused(&[&bits, "--verilog", "b.v", "--pipeline", "2", "--delay-model", "devise"]);
    assert!(said.contains("device"), "{said}");
    let said = refused(&[&bits, "--verilog", "b.v", "--use-dsp", "yes", "--device", "ice40"]);
    assert!(said.contains("E0801") && said.contains("ice40 has no multiplier blocks"), "{said}");
}

#[test]
fn part_numbers_name_devices() {
    for (part, device) in [("xc7a35tcpg236-1", "7series"), ("xcvu13p-flga2577-2-e", "xcvu13p"), ("LFE5U-85F", "ecp5")] {
        assert_eq!(info("bit_logic", &["--device", part])["estimate"]["device"], device);
    }
}

#[test]
fn registers_stand_within_products_of_logic() {
    let whole = alir2hdl::passes::pipeline(2).join(",");
    for (name, device, stages, least) in
        [("anomaly_ae", "ecp5", "5", 1.1), ("anomaly_ae", "xcku5p", "5", 1.25), ("over64", "xcku5p", "3", 1.25)]
    {
        let clock = |more: &[&str]| {
            let options = ["--use-dsp", "no", "--delay-model", "device", "--device", device, "--pipeline", stages];
            // With an enable the registers have no resets that replace LUTs.
            let folder = tempfile::tempdir().expect("a folder");
            let model = model(name);
            let project = ["project", &model, "-o", "p", "--vectors", "1", "--enable", "-q"];
            let (code, _, said) = run(folder.path(), &[&project, &options[..], more].concat());
            assert_eq!(code, 0, "{said}");
            let facts = std::fs::read(folder.path().join("p/metadata.json")).expect("metadata.json");
            let estimate = serde_json::from_slice::<serde_json::Value>(&facts).expect("JSON")["estimate"].clone();
            (estimate["clock_mhz"].as_f64().unwrap(), estimate["lut"].as_f64().unwrap())
        };
        let (cut, uncut) = (clock(&["-O2"]), clock(&["--passes", &whole]));
        assert!(cut.0 >= least * uncut.0, "{name} on {device}: {cut:?} against {uncut:?}");
        // Adders between parts take tables; parts of squares are smaller than squares.
        assert!(cut.1 <= uncut.1 || name == "over64", "{name} on {device}: {cut:?} against {uncut:?}");
    }
    // Without stages there is nowhere to cut, and a row of a sweep is what its number of stages gives. On ECP5 the
    // level decides about nothing but the passes (elsewhere also about sums with constants), so that whole texts can be
    // compared.
    let text = |options: &[&str]| {
        let folder = tempfile::tempdir().expect("a folder");
        let fixed = ["--verilog", "m.v", "--use-dsp", "no", "--delay-model", "device", "--device", "ecp5", "-q"];
        let (code, _, said) = run(folder.path(), &[&[model("anomaly_ae").as_str()], &fixed[..], options].concat());
        assert_eq!(code, 0, "{said}");
        body(&std::fs::read_to_string(folder.path().join("m.v")).expect("the text"))
    };
    assert_eq!(text(&["-O2", "--pipeline", "1"]), text(&["--passes", &whole, "--pipeline", "1"]));
    assert_ne!(text(&["-O2", "--pipeline", "2"]), text(&["--passes", &whole, "--pipeline", "2"]));
    // A clock that whole products meet takes no parts; one that they cannot meet does.
    assert_eq!(text(&["-O2", "--clock-period", "15"]), text(&["--passes", &whole, "--clock-period", "15"]));
    let over64 = model("over64");
    let fast = ["--use-dsp", "no", "--device", "xcku5p", "--delay-model", "device", "--clock-period", "5.5"];
    let said = refused(&[&[over64.as_str(), "--verilog", "m.v"], &fast[..], &["--passes", &whole]].concat());
    assert!(said.contains("E0506") && said.contains("(mul) limits it"), "{said}");
    assert!(info("over64", &[&fast[..], &["-O2"]].concat())["pipeline"]["latency"].as_u64().unwrap() < 6);
    let options = ["-O2", "--use-dsp", "no", "--delay-model", "device"];
    let sweep = info("anomaly_ae", &[&options[..], &["--sweep=3"]].concat());
    for (row, stages) in ["1", "2", "3"].into_iter().enumerate() {
        let alone = info("anomaly_ae", &[&options[..], &["--pipeline", stages]].concat());
        assert_eq!(sweep["sweep"][row]["stage_delay"], alone["pipeline"]["stage_delay"]);
        assert_eq!(sweep["sweep"][row]["register_bits"], alone["pipeline"]["register_bits"]);
    }
}

#[test]
fn every_device_estimates_every_random_program() {
    for seed in 0..60 {
        let model = random::model(seed);
        let netlist = combinational(&model);
        for device in Device::ALL {
            let estimate =
                Estimate::new(&netlist, device, Resources { multiplier_blocks: seed % 2 == 0, ..Resources::default() });
            assert_eq!(
                estimate,
                Estimate::new(&netlist, device, Resources { multiplier_blocks: seed % 2 == 0, ..Resources::default() })
            );
            assert!(estimate.period_ns.is_finite() && estimate.period_ns >= 0.0, "seed {seed}: {estimate:?}");
            assert_eq!((estimate.ff, estimate.ram), (0, 0), "seed {seed}");
            if estimate.lut + estimate.carry + estimate.dsp == 0 {
                assert_eq!(estimate.longest_path.tables, 0, "seed {seed}: {estimate:?}");
            }
        }
    }
}

#[test]
fn registers_beside_products_are_those_of_the_blocks() {
    let mut b = Builder::new(vec![0; 2]);
    let [x, y] = [0, 1].map(|input| b.op(Op::Input { input }, Interval::new(-2048, 2047, 0)));
    let product = b.op(Op::Mul { a: x, b: y }, Interval::new(-(1 << 23), (1 << 23) - 1, 0));
    let sum = b.op(Op::Add { a: product, b: x, shift: 0 }, Interval::new(-(1 << 24), (1 << 24) - 1, 0));
    b.output(Output { source: Some(sum), shift: 0, neg: false });
    let model = b.finish().expect("a valid program");
    let reset = |asynchronous| Some(ResetOptions { asynchronous, active_high: true, data: true });
    let flip_flops = |stage: [u32; 4], reset, multiplier_blocks, device| {
        let schedule = Schedule { stages: 2, register_inputs: true, register_outputs: false, stage: stage.to_vec() };
        let netlist = lower(&model, &schedule, &Options { reset, enable: true, ..Options::default() });
        let estimate = Estimate::new(&netlist, device, Resources { multiplier_blocks, ..Resources::default() });
        (netlist.register_bits(), netlist.register_bits() - estimate.ff)
    };
    let behind = [1, 1, 1, 2];
    // Inputs, the product with `x`, the sum.
    let all = 24 + 24 + 12 + 25;
    for device in [Device::UltrascalePlus, Device::Series7, Device::Ecp5] {
        // The product and `y`; `x` goes another way too.
        assert_eq!(flip_flops(behind, None, true, device), (all, 24 + 12));
        assert_eq!(flip_flops(behind, reset(false), true, device), (all, 24 + 12));
        // No block has the reset, there is no block, or the sum reads what the block has not held yet.
        assert_eq!(flip_flops(behind, reset(true), true, device), (all, 0));
        assert_eq!(flip_flops(behind, None, false, device), (all, 0));
        assert_eq!(flip_flops([1, 1, 1, 1], None, true, device).1, 12);
    }
    assert_eq!(flip_flops(behind, None, true, Device::Ice40), (all, 0));
}

/// A rectified value between registers is their synchronous reset; not if it has another reader, or the registers have
/// a reset or an enable of their own.
#[test]
fn resets_of_registers_take_no_tables() {
    let model = |width: u32, with_reader: bool| {
        let mut b = Builder::new(vec![0]);
        let (least, most) = (-(1i64 << (width - 1)), (1i64 << (width - 1)) - 1);
        let x = b.op(Op::Input { input: 0 }, Interval::new(least, most, 0));
        let positive = b.op(Op::Relu { x }, Interval::new(0, most, 0));
        b.output(Output { source: Some(positive), shift: 0, neg: false });
        if with_reader {
            let sum = b.op(Op::Add { a: positive, b: positive, shift: 1 }, Interval::new(0, 3 * most, 0));
            b.output(Output { source: Some(sum), shift: 0, neg: false });
        }
        b.finish().expect("a valid program")
    };
    let tables = |width: u32, with_reader: bool, options: &Options| {
        let model = model(width, with_reader);
        let stage = vec![1; model.nodes().len()];
        let schedule = Schedule { stages: 1, register_inputs: true, register_outputs: false, stage };
        let netlist = lower(&model, &Schedule { register_outputs: true, ..schedule }, options);
        Estimate::new(&netlist, Device::Ecp5, Resources::default()).tables.logic
    };
    let plain = Options::default();
    // Seven bits are forced; three are too few for a control signal.
    assert_eq!((tables(8, false, &plain), tables(4, false, &plain)), (0, 3));
    let reset = Some(ResetOptions { asynchronous: false, active_high: true, data: true });
    assert_eq!(tables(8, false, &Options { reset, ..Options::default() }), 7);
    assert_eq!(tables(8, false, &Options { enable: true, ..Options::default() }), 7);
    assert!(tables(8, true, &plain) >= 7);
}

/// On iCE40 a comparison takes carries and inverters of one operand, and no table for each bit.
#[test]
fn comparisons_take_no_tables_but_inverters() {
    let found = {
        let mut b = Builder::new(vec![0; 2]);
        let [x, y] = [0, 1].map(|input| b.op(Op::Input { input }, Interval::new(0, 65535, 0)));
        let difference = b.op(Op::Sub { a: x, b: y, shift: 0 }, Interval::new(-65535, 65535, 0));
        let least = b.op(Op::Mux { cond: difference, on_true: x, on_false: y, shift: 0 }, Interval::new(0, 65535, 0));
        b.output(Output { source: Some(least), shift: 0, neg: false });
        let netlist = combinational(&b.finish().expect("a valid program"));
        Estimate::new(&netlist, Device::Ice40, Resources::default()).tables
    };
    // The sign, and an inverter for each bit.
    assert_eq!((found.multiplexers, found.carry), (16, 17), "{found:?}");
}

#[test]
fn the_scheduler_counts_the_registers_of_blocks_as_the_estimate_does() {
    let (mut inside, mut fewer, mut all) = (0, 0, 0);
    let var_mul = formats::read_path(Path::new(&model("var_mul")), &Limits::default(), None).expect("a model").0;
    for (seed, model) in (0..1000).map(|seed| (seed, random::model(seed))).chain([(1000, var_mul)]) {
        let device = [Device::Series7, Device::Ecp5, Device::UltrascalePlus][seed as usize % 3];
        let blocks = device.technology().block_registers();
        let uses = uses_with_blocks(&model, Fabric::default(), blocks);
        if uses.edges().is_empty() {
            continue;
        }
        let goal = Goal::stages(2 + seed as u32 % 5);
        let outcome = schedule(&model, default_delay(&model), &goal, &uses).expect("a schedule");
        let netlist = lower(&model, &outcome.schedule, &Options::default());
        let resources = Resources { multiplier_blocks: true, ..Resources::default() };
        let estimate = Estimate::new(&netlist, device, resources);
        let (outside, bits) = (outcome.register_bits - outcome.bits_in_blocks, netlist.register_bits());
        assert_eq!(bits, outcome.register_bits, "seed {seed}");
        assert!(estimate.ff <= outside, "seed {seed}: {} of {bits} outside, {outside} by the scheduler", estimate.ff);
        // A factor of which a product makes some bits is not the scheduler's.
        fewer += u32::from(estimate.ff < outside);
        inside += u32::from(estimate.ff < bits);
        all += 1;
    }
    assert!(inside > 50 && fewer < 5, "{inside} and {fewer} of {all}");
}

#[test]
fn registers_are_placed_where_multiplier_blocks_have_them() {
    let of = |options: &[&str]| {
        let fixed = ["--pipeline", "5", "--delay-model", "latency-fields"];
        let pipeline = &info("var_mul", &[&fixed[..], options].concat())["pipeline"];
        let bits = |name: &str| pipeline[name].as_u64().expect("a number");
        (bits("register_bits"), bits("register_bits_in_blocks"), bits("register_bits_at_least"))
    };
    let plain = of(&[]);
    assert_eq!((plain.1, plain.0), (0, plain.2));
    // No blocks, none named, no search.
    assert_eq!(of(&["--device", "ice40"]), plain);
    assert_eq!(of(&["--device", "generic", "--use-dsp", "no"]).1, 0);
    assert_eq!(of(&["--device", "7series", "--effort", "fast"]).1, 0);
    let blocks = of(&["--device", "7series"]);
    // A bit within a block counts as a quarter.
    let counted = (4 * (blocks.0 - blocks.1) + blocks.1).div_ceil(4);
    assert_eq!(counted, blocks.2, "{blocks:?}");
    assert!(counted * 3 < plain.0 * 2, "{blocks:?} {plain:?}");
    let folder = tempfile::tempdir().expect("a folder");
    let text = |options: &[&str]| {
        let all = ["--verilog", "m.v", "--pipeline", "5", "--device", "7series", "--delay-model", "latency-fields"];
        let (code, _, stderr) = run(folder.path(), &[&[model("var_mul").as_str()], &all[..], options].concat());
        assert_eq!(code, 0, "{stderr}");
        stderr
    };
    let said = text(&[]);
    assert!(
        said.contains(&format!(
            "{} of them in DSPs (the fewest for this stage delay, a bit in a DSP counted as 1/4)",
            blocks.1
        )),
        "{said}"
    );
    // No block has such a reset.
    let said = text(&["--reset", "async", "--reset-data"]);
    assert!(said.contains(&format!(" {} register bits (the fewest for this stage delay)", plain.0)), "{said}");
}

#[test]
fn adders_of_three_are_counted_and_timed_as_such() {
    for n in 3..9 {
        let mut b = Builder::new(vec![0; n]);
        let inputs: Vec<ValueId> =
            (0..n).map(|i| b.op(Op::Input { input: i as u32 }, Interval::new(-512, 511, 0))).collect();
        let terms: Vec<Term> = inputs.iter().map(|&value| Term { value, shift: 0, neg: value.0 % 3 == 1 }).collect();
        let sum = b.op(Op::Sum { terms: terms.into() }, Interval::new(-(1 << 13), (1 << 13) - 1, 0));
        b.output(Output { source: Some(sum), shift: 0, neg: false });
        let model = b.finish().expect("a valid program");
        let estimate = |adders| {
            let fabric = Fabric { adders, ..Fabric::default() };
            let netlist =
                lower(&model, &Schedule::combinational(model.nodes().len()), &Options { fabric, ..Options::default() });
            Estimate::new(&netlist, Device::UltrascalePlus, Resources::default())
        };
        let (two, three) = (estimate(Adders::Two), estimate(Adders::Sums));
        let adders = |estimate: &Estimate, number: usize| {
            let bits = estimate.tables.carry as usize + estimate.tables.logic as usize;
            assert!((10 * number..=15 * number).contains(&bits), "{n}: {number} adders in {bits} tables");
        };
        adders(&two, n - 1);
        adders(&three, n / 2);
        assert!(three.period_ns > 0.0 && three.carry < two.carry);
        // A table and a chain take longer than a chain.
        let one = |e: &Estimate| e.period_ns / f64::from(e.longest_path.chains);
        assert!(one(&three) > one(&two), "{three:?} {two:?}");
    }
}

/// Lines of the RTL with two additions or subtractions.
fn sums_of_three(name: &str, options: &[&str]) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, _, stderr) = run(folder.path(), &[&[&model(name), "--verilog", "m.v"], options].concat());
    assert_eq!(code, 0, "{stderr}");
    let text = std::fs::read_to_string(folder.path().join("m.v")).expect("written");
    let operators = |line: &str| line.matches(" + ").count() + line.matches(" - ").count();
    text.lines().filter(|l| operators(l.split("//").next().unwrap_or(l)) == 2).count()
}

#[test]
fn only_devices_with_adders_of_three_get_them() {
    for device in ["xcvu13p", "xcku5p", "ultrascale+", "7series", "xc7a35tcpg236-1"] {
        assert!(sums_of_three("jet_mlp", &["--device", device]) > 50, "{device}");
    }
    for device in ["ecp5", "ice40", "agilex", "generic"] {
        assert_eq!(sums_of_three("jet_mlp", &["--device", device]), 0, "{device}");
    }
    assert_eq!(sums_of_three("jet_mlp", &[]), 0);
    // A clock is not made slower for the sake of tables.
    for options in [
        &["--pipeline", "auto", "--clock-period", "8"][..],
        &["--pipeline", "3", "--delay-model", "device"],
        &["--pipeline", "auto", "--max-stage-delay", "6"],
    ] {
        assert_eq!(sums_of_three("jet_mlp", &[options, &["--device", "xcku5p"]].concat()), 0, "{options:?}");
    }
    let found = info("jet_mlp", &["-O2", "--device", "xcku5p", "--pipeline", "auto", "--clock-period", "8"]);
    assert!(found["estimate"]["period_ns"].as_f64().is_some_and(|ns| ns <= 8.0), "{found}");
    assert!(found["pipeline"]["latency"].as_u64() <= Some(3), "{found}");
}

#[test]
fn delays_add_up_to_the_time_of_the_longest_path() {
    for seed in 0..60 {
        let model = random::model(seed);
        for device in [Device::Ecp5, Device::UltrascalePlus] {
            let delays = Delays::new(&model, device, Fabric::default());
            let resources = Resources { multiplier_blocks: true, ..Resources::default() };
            let whole = Estimate::new(&combinational(&model), device, resources).period_ns;
            let mut arrival = vec![0.0f64; model.nodes().len()];
            for id in model.ids() {
                let mut before = 0.0f64;
                model.node(id).op.for_each_operand(|v| before = before.max(arrival[v.index()]));
                let own = delays.own_delay(&model, id);
                assert!(own.is_finite() && own >= 0.0, "seed {seed}");
                arrival[id.index()] = before + own;
            }
            let mut longest = 0.0f64;
            for output in model.outputs() {
                if let Some(source) = output.source {
                    longest = longest.max(arrival[source.index()]);
                }
            }
            // Negations of outputs belong to no operation, and picoseconds are rounded.
            let negated = model.outputs().iter().any(|output| output.neg);
            assert!(negated || longest >= whole - 0.002, "seed {seed}: {longest} < {whole}");
        }
    }
}

#[test]
fn schedules_by_device_pass_the_checker() {
    for seed in 0..40 {
        let model = random::model(seed);
        let fabric = Fabric { multipliers: Multipliers::Rows, table_inputs: 4, ..Fabric::default() };
        let delays = Delays::new(&model, Device::Ecp5, fabric);
        let uses = uses_with(&model, fabric);
        let goal = Goal { register_inputs: seed % 2 == 0, ..Goal::stages(1 + seed as u32 % 4) };
        let outcome = schedule(&model, &delays, &goal, &uses).unwrap();
        outcome.check(&model, &delays, &goal, &uses).unwrap();
    }
}

#[test]
fn automatic_pipelines_meet_the_clock_of_the_device() {
    let mut latency = 0;
    for period in ["20", "12", "8", "5"] {
        let found = info("sort_topk", &["--device", "ecp5", "--pipeline", "auto", "--clock-period", period]);
        let (wanted, ns) = (period.parse::<f64>().unwrap(), found["estimate"]["period_ns"].as_f64().unwrap());
        assert!(ns <= wanted, "{ns} for {wanted}");
        assert_eq!(found["delay_source"], "device");
        let stages = found["pipeline"]["latency"].as_u64().unwrap();
        assert!(stages >= latency, "a faster clock needs no fewer stages");
        latency = stages;
    }
    assert!(latency > 2, "{latency}");
    let sorting = model("sort_topk");
    let said =
        refused(&[&sorting, "--verilog", "s.v", "--pipeline", "auto", "--clock-period", "0.01", "--device", "ecp5"]);
    assert!(said.contains("E0506") && said.contains("ecp5"), "{said}");
    assert!(said.contains("a register of ecp5 alone takes"), "{said}");
    // The period in the help is met.
    let period = said.split("require ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a period");
    let met = info("sort_topk", &["--pipeline", "auto", "--clock-period", period, "--device", "ecp5"]);
    assert!(met["estimate"]["period_ns"].as_f64() <= period.parse().ok(), "{said}");
    let said =
        refused(&[&sorting, "--verilog", "s.v", "--pipeline", "auto", "--clock-period", "1.6", "--device", "ecp5"]);
    assert!(said.contains("E050"), "{said}");
}

#[test]
fn estimates_show_their_error_in_text() {
    let (code, text, _) = run(Path::new("."), &["info", &model("var_mul"), "--device", "ecp5", "--pipeline", "2"]);
    assert_eq!(code, 0);
    assert!(text.contains("estimate for ecp5") && text.contains("longest path"), "{text}");
    let estimate = &info("var_mul", &["--device", "xcku5p"])["estimate"];
    assert!(estimate["dsp"].as_u64() > Some(0) && estimate["lut"].as_u64() > Some(0), "{estimate}");
    let rows = &info("var_mul", &["--device", "xcku5p", "--use-dsp", "no"])["estimate"];
    assert!(rows["dsp"] == 0 && rows["lut"].as_u64() > estimate["lut"].as_u64(), "{rows}");
}

/// The constraints of a project made with these options, and its metadata.
#[track_caller]
fn project(name: &str, options: &[&str]) -> (String, String, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, _, stderr) =
        run(folder.path(), &[&["project", &model(name), "--output", "p", "--vectors", "5"], options].concat());
    assert_eq!(code, 0, "{stderr}");
    let read = |file: &str| std::fs::read_to_string(folder.path().join("p").join(file)).expect("a file of the project");
    let metadata = serde_json::from_str(&read("metadata.json")).expect("JSON");
    (read("constraints/clock.xdc"), read("constraints/clock.sdc"), metadata)
}

/// The numbers that a command of a constraint file is given, each once.
fn figures<'t>(constraints: &'t str, command: &str) -> Vec<&'t str> {
    let lines = constraints.lines().filter(|line| line.starts_with(&format!("{command} ")));
    let number = |line: &'t str| line.split_whitespace().find(|word| word.parse::<f64>().is_ok());
    let mut all: Vec<&str> = lines.map(|line| number(line).expect("a number")).collect();
    all.dedup();
    all
}

#[test]
fn constraints_say_what_the_schedule_was_made_for() {
    let clock = ["--flow", "vivado", "--pipeline", "auto", "--clock-period", "5"];
    let (xdc, sdc, plain) = project("jet_mlp", &clock);
    for text in [&xdc, &sdc] {
        assert_eq!(figures(text, "create_clock"), ["5"], "{text}");
        assert_eq!((figures(text, "set_input_delay"), figures(text, "set_output_delay")), (vec!["0"], vec!["0"]));
        assert!(!text.contains("uncertainty"), "{text}");
    }
    let around = ["--clock-uncertainty", "0.5", "--input-delay", "1.25", "--output-delay", "0.75"];
    let (xdc, sdc, tight) = project("jet_mlp", &[&clock[..], &around].concat());
    for text in [&xdc, &sdc] {
        assert_eq!(figures(text, "set_input_delay"), ["1.25"], "{text}");
        assert_eq!(figures(text, "set_output_delay"), ["0.75"], "{text}");
        assert_eq!(figures(text, "set_clock_uncertainty"), ["0.5"], "{text}");
        let without_setup = text.lines().filter(|l| l.starts_with("set_clock_uncertainty") && !l.contains(" -setup "));
        assert_eq!(without_setup.count(), 0, "uncertainty must not hit hold: {text}");
    }
    let period = |metadata: &Value| metadata["estimate"]["period_ns"].as_f64().expect("a period");
    assert!(period(&plain) <= 5.0 && period(&tight) <= 5.0);
    // What is taken off the period costs stages; without it the estimate of the same hardware is shorter.
    let latency = |metadata: &Value| metadata["latency"].as_u64().expect("a latency");
    assert!(latency(&tight) > latency(&plain), "{} and {}", latency(&tight), latency(&plain));
    let stages = latency(&tight).to_string();
    let fixed = ["--device", "xcvu13p", "--pipeline", &stages];
    let alone = info("jet_mlp", &fixed)["estimate"]["period_ns"].as_f64().expect("a period");
    let later = info("jet_mlp", &[&fixed[..], &["--clock-uncertainty", "0.5"]].concat());
    let later = later["estimate"]["period_ns"].as_f64().expect("a period");
    assert!((later - alone - 0.5).abs() < 0.002, "{later} and {alone}");
    // In the units of the file, with what a unit is.
    let unit = ["--flow", "vivado", "--clock-period", "6", "--delay-unit", "0.5", "--input-delay", "2"];
    assert_eq!(figures(&project("jet_mlp", &unit).0, "set_input_delay"), ["1"]);
    for (value, code) in [("-1", "E0505"), ("nan", "E0505"), ("5", "E0505"), ("4.99", "E0506")] {
        let jets = model("jet_mlp");
        let all = [&[jets.as_str(), "--verilog", "m.v"], &clock[2..], &["--clock-uncertainty", value]].concat();
        let said = refused(&all);
        assert!(said.contains(code) && said.contains("--clock-uncertainty"), "{value}: {said}");
    }
}

#[test]
fn a_project_without_a_part_is_made_for_the_default_part() {
    let clock = ["--flow", "vivado", "--pipeline", "auto", "--clock-period", "5"];
    // All but what each file says of the command that made it.
    let made = |options: &[&str]| {
        let (xdc, sdc, mut metadata) = project("jet_mlp", options);
        let constraints =
            |text: &str| text.lines().filter(|l| !l.starts_with("# command: ")).collect::<Vec<_>>().join("\n");
        metadata["provenance"]["command"] = Value::Null;
        (constraints(&xdc), constraints(&sdc), metadata)
    };
    let named = made(&[&clock[..], &["--part", "xcvu13p-flga2577-2-e"]].concat());
    assert!(named.0.contains("create_clock") && named.1.contains("create_clock"));
    assert_eq!(made(&clock), named);
    assert_eq!(named.2["estimate"]["device"], "xcvu13p");
    let (_, _, metadata) = project("bit_logic", &["--flow", "yosys", "--pipeline", "auto", "--clock-period", "8"]);
    assert_eq!(metadata["estimate"]["device"], "ecp5");
}

#[test]
fn a_named_device_brings_its_delays() {
    let made = |options: &[&str]| {
        let folder = tempfile::tempdir().expect("a folder");
        let jets = model("jet_mlp");
        let (code, _, stderr) = run(folder.path(), &[&[jets.as_str(), "--verilog", "m.v"], options].concat());
        assert_eq!(code, 0, "{stderr}");
        body(&std::fs::read_to_string(folder.path().join("m.v")).expect("text"))
    };
    for stages in [["--clock-period", "2"], ["--pipeline", "4"], ["--max-stage-delay", "3"]] {
        let named = made(&[&stages[..], &["--device", "ultrascale+"]].concat());
        let by_device = ["--device", "ultrascale+", "--delay-model", "device"];
        assert!(named == made(&[&stages[..], &by_device].concat()), "{stages:?}");
        let by_fields = ["--device", "ultrascale+", "--delay-model", "latency-fields"];
        assert!(stages[0] == "--clock-period" || named != made(&[&stages[..], &by_fields].concat()), "{stages:?}");
    }
    // Who says what a unit is means the file's.
    let unit = ["--clock-period", "20", "--delay-unit", "1", "--device", "ultrascale+"];
    assert!(made(&unit) == made(&[&unit[..], &["--delay-model", "latency-fields"]].concat()));
}

#[test]
fn every_figure_of_time_has_a_unit() {
    let shown = |options: &[&str]| {
        let (code, text, stderr) =
            run(Path::new("."), &[&["info", &model("jet_mlp"), "--pipeline", "4", "-v"], options].concat());
        assert_eq!(code, 0, "{stderr}");
        text
    };
    for (options, unit) in [(&["--device", "ultrascale+"][..], "ns"), (&[], "latency units")] {
        let text = shown(options);
        let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{text}"));
        assert!(line("critical stage").contains(&format!(" {unit},")), "{text}");
        // Of a device the clock is the figure.
        assert_eq!(line("depth").contains(&format!(" {unit} (by ")), unit != "ns", "{text}");
        assert!(line("stage ").ends_with(&format!("delays in {unit}")), "{text}");
        assert!(line("critical path of stage 1").ends_with(&format!(" {unit}:")), "{text}");
    }
    let facts = info("jet_mlp", &["--device", "ultrascale+", "--pipeline", "4"]);
    assert_eq!((&facts["delay_unit"], &facts["pipeline"]["delay_unit"]), (&Value::from("ns"), &Value::from("ns")));
}

#[test]
fn a_sweep_of_a_device_has_the_estimate_of_each_row_its_proof_and_a_picture() {
    let folder = tempfile::tempdir().expect("a folder");
    let bits = model("bit_logic");
    let options = ["info", &bits, "--device", "ecp5", "--sweep=3", "--prove", "--json", "--svg", "s.svg"];
    let (code, stdout, stderr) = run(folder.path(), &options);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("proofs took"), "{stderr}");
    let facts: Value = serde_json::from_str(&stdout).expect("JSON");
    let rows = facts["sweep"].as_array().expect("rows");
    for (row, stages) in rows.iter().zip(1..) {
        let alone = info("bit_logic", &["--device", "ecp5", "--pipeline", &i32::to_string(&stages)]);
        let (on, estimate) = (&row["on_device"], &alone["estimate"]);
        for figure in ["lut", "ff", "dsp", "ram", "clock_mhz"] {
            assert_eq!(on[figure], estimate[figure], "{stages} stages, {figure}");
        }
        let latency = on["latency_ns"].as_f64().unwrap() / estimate["period_ns"].as_f64().unwrap();
        assert!((latency - row["latency"].as_f64().unwrap()).abs() < 1e-3, "{latency}");
        assert_eq!(row["proof"], "proved");
    }
    let figures = |row: &Value| {
        let on = &row["on_device"];
        (on["clock_mhz"].as_f64().unwrap(), on["lut"].as_u64().unwrap() + on["ff"].as_u64().unwrap())
    };
    for row in rows {
        let (clock, area) = figures(row);
        let beaten = rows.iter().map(figures).any(|(c, a)| c >= clock && a <= area && (c > clock || a < area));
        assert_eq!(row["on_device"]["best"], !beaten, "{row}");
    }
    let drawn = std::fs::read_to_string(folder.path().join("s.svg")).expect("a picture");
    assert_eq!(drawn.matches("<circle").count(), 3, "{drawn}");
    assert!(drawn.contains("ecp5") && drawn.contains("LUT + FF"), "{drawn}");
}

/// Asserts, for random programs, devices and periods: what `--pipeline N` meets, `auto` meets too, in as many stages or
/// fewer, and by the same figure; what `auto` returns meets the period.
fn assert_auto_is_consistent(seeds: std::ops::Range<u64>) {
    let mut shorter = 0;
    for seed in seeds {
        let model = random::model(seed);
        let mut rng = alir2hdl::num::SplitMix::new(seed ^ 0xa070);
        let device = Device::ALL[rng.below(Device::ALL.len() as u64) as usize];
        let mut spec = Spec::default();
        spec.target.device = Some(device);
        let period = |spec: &Spec| {
            let scheduled = compile::optimise(&model, spec).expect("it has passes").schedule(spec);
            scheduled.map(|scheduled| {
                let (netlist, _) = scheduled.lower(spec, "top").expect("a netlist");
                let estimate = spec.estimate(&netlist);
                let slowest = scheduled.stage_times(spec, &netlist).into_iter().fold(0.0, f64::max);
                assert!(slowest <= estimate.period_ns, "seed {seed}: a stage takes longer than the clock period");
                (scheduled.outcome.schedule.stages, estimate.period_ns)
            })
        };
        let stages = 1 + rng.below(7) as u32;
        spec.pipeline.stages = Some(Stages::Exactly(stages));
        let (_, of_stages) = period(&spec).expect("a schedule");
        if of_stages == 0.0 {
            continue;
        }
        spec.pipeline.stages = Some(Stages::Fewest);
        spec.clock.period = Some(of_stages);
        let (found, of_auto) = period(&spec)
            .unwrap_or_else(|why| panic!("seed {seed}: {} needs {of_stages} ns with {stages}: {why:?}", device.name()));
        assert!(of_auto <= of_stages, "seed {seed}: auto misses its period: {of_auto} against {of_stages}");
        assert!(found <= stages, "seed {seed}: auto takes {found} stages where {stages} meet the period");
        shorter += u32::from(found < stages);
    }
    // Stages beyond the first that meets a period are of no use: some requests have such.
    assert!(shorter > 0);
}

#[test]
fn auto_meets_what_any_number_of_stages_meets() {
    assert_auto_is_consistent(0..60);
}

#[test]
#[ignore = "long: 2,000 random programs, devices and periods"]
fn auto_meets_what_any_number_of_stages_meets_2000() {
    assert_auto_is_consistent(1_000..3_000);
}

/// A random program with many products.
fn products(seed: u64) -> Model {
    use random::Kind::{Add, AddConst, Const, Input, Mul, Mux, Quantise, Relu, Sub};
    const KINDS: &[random::Kind] = &[Input, Mul, Input, Mul, Add, Sub, Mul, AddConst, Const, Mux, Quantise, Relu];
    let profile = random::Profile { kinds: KINDS, max_width: 20, ..random::Profile::SMALL };
    let mut rng = SplitMix::new(seed);
    random::Recipe::seeded(profile, 3 + rng.below(20) as usize, rng.word()).build()
}

/// Random options for the stages and the clock of a program with products.
fn clock_options(rng: &mut SplitMix) -> Spec {
    let mut spec = Spec::default();
    let device = Device::ALL[rng.below(Device::ALL.len() as u64) as usize];
    spec.target.device = Some(device);
    spec.target.products = match rng.below(6) {
        0 => Products::Auto,
        1 if device.technology().multiplier.is_some() => Products::Blocks,
        _ => Products::Logic,
    };
    spec.optimisation.passes = Passes::Level([0, 1, 2, 2, 2][rng.below(5) as usize]);
    spec.pipeline.effort = if rng.below(4) == 0 { Effort::Fast } else { Effort::Normal };
    spec.pipeline.register_inputs = rng.below(4) == 0;
    spec.pipeline.register_outputs = rng.below(4) == 0;
    let mut sometimes = |ns: f64| if rng.below(4) == 0 { ns } else { 0.0 };
    spec.pipeline.input_delay = sometimes(0.3);
    spec.pipeline.output_delay = sometimes(0.4);
    spec.clock.uncertainty = sometimes(0.1);
    spec
}

/// Asserts, for random programs with products, devices and options: a period that some number of stages has is met by
/// that number and by `auto`; a refusal states a period that is met, and no number of stages has a shorter one.
fn assert_periods_of_stages_are_met(seeds: impl IntoIterator<Item = u64>) {
    let (mut refused, mut by_name) = (0, 0);
    for seed in seeds {
        let model = products(seed);
        let mut rng = SplitMix::new(seed ^ 0x7072_6f64);
        let spec = clock_options(&mut rng);
        let with = |stages: Stages, period: Option<f64>| {
            let mut spec = spec.clone();
            spec.pipeline.stages = Some(stages);
            spec.clock.period = period;
            let scheduled = compile::optimise(&model, &spec)?.schedule(&spec)?;
            let (netlist, _) = scheduled.lower(&spec, "top")?;
            Ok::<_, compile::Error>((scheduled.outcome.schedule.stages, spec.estimate(&netlist).period_ns))
        };
        let periods: Vec<(u32, f64)> =
            (1..=8).map(|n| with(Stages::Exactly(n), None).expect("stages without a period")).collect();
        let best = periods.iter().map(|&(_, ns)| ns).fold(f64::INFINITY, f64::min);
        // Without logic the uncertainty is the period, of which it has to leave something.
        if best <= spec.clock.uncertainty {
            continue;
        }
        let context = |what: &str| format!("seed {seed}: {what} of {periods:?}: {spec:?}");
        let one = periods[rng.below(8) as usize];
        for (stages, ns) in [one, *periods.iter().find(|(_, ns)| *ns == best).expect("the best")] {
            let (_, exactly) = with(Stages::Exactly(stages), Some(ns)).unwrap_or_else(|why| {
                panic!("{}: {why}", context("as many stages"));
            });
            assert!(exactly <= ns, "{}", context("as many stages"));
            let (found, auto) =
                with(Stages::Fewest, Some(ns)).unwrap_or_else(|why| panic!("{}: {why}", context("auto")));
            assert!(auto <= ns && found <= stages, "{}: {found} stages, {auto} ns", context("auto"));
        }
        let below = if rng.below(4) == 0 { 0.01 } else { 0.95 * best };
        let Err(refusal) = with(Stages::Fewest, Some(below)) else { continue };
        let diagnostic = &refusal.diagnostics.0[0];
        // Delays that do not depend on the program have messages of their own.
        if diagnostic.code != "E0506" {
            continue;
        }
        let help = diagnostic.help.as_deref().expect("a help");
        let required = help.strip_prefix("require ").and_then(|rest| rest.split(' ').next()).expect("a period");
        let required: f64 = required.parse().expect("a period");
        // At most four digits are stated, and not less than the period.
        assert!(required <= 1.001 * best, "{}: {refusal}", context("shortest period"));
        let met = with(Stages::Fewest, Some(required)).unwrap_or_else(|why| panic!("{}: {why}", context("help")));
        assert!(met.1 <= required, "{}", context("help"));
        refused += 1;
        by_name += u32::from(diagnostic.message.contains(" alone takes "));
    }
    assert!(refused > 0 && by_name > 0, "{refused} refused, {by_name} of them below registers");
}

#[test]
fn periods_of_pipelines_with_products_are_met() {
    // In program 1700, eight stages are better than two to seven: some of the registers are inside of DSPs.
    assert_periods_of_stages_are_met((0..24).chain([1700]));
}

#[test]
#[ignore = "long: 2,000 random programs with products, devices and options"]
fn periods_of_pipelines_with_products_are_met_2000() {
    assert_periods_of_stages_are_met(1_000..3_000);
}

/// A design without registers is not bounded by what a register takes; times have at most four digits.
#[test]
fn registers_bound_the_period_only_of_designs_that_have_some() {
    let mut builder = Builder::new(vec![0]);
    let constant = builder.op(Op::Const { value: 3.into() }, Interval::new(3, 3, 0));
    builder.output(Output { source: Some(constant), shift: 0, neg: false });
    let constant = builder.finish().expect("a valid program");
    let with_registers = products(3);
    for (device, model) in Device::ALL.iter().flat_map(|&device| [(device, &constant), (device, &with_registers)]) {
        let mut spec = Spec::default();
        spec.target.device = Some(device);
        spec.pipeline.output_delay = 0.4;
        spec.clock.period = Some(0.1);
        let refusal = compile::model(model, &spec).expect_err("0.1 ns is too short");
        let diagnostic = &refusal.diagnostics.0[0];
        let is_constant = std::ptr::eq(model, &constant);
        assert_eq!(diagnostic.message.contains("a register of "), !is_constant, "{refusal}");
        let times = [&diagnostic.message, diagnostic.help.as_ref().expect("a help")].map(|text| text.split(' '));
        for digits in times.into_iter().flatten().filter(|word| word.parse::<f64>().is_ok()) {
            let digits = digits.trim_start_matches(['0', '.']).replace('.', "");
            assert!(digits.len() <= 4, "{refusal}");
        }
    }
}

/// Sums and differences of 20 to 60 bits in a row, and choices by comparisons of them.
fn wide_sums(seed: u64) -> Model {
    let mut rng = SplitMix::new(seed);
    let mut builder = Builder::new(vec![0; 4]);
    let width = 20 + rng.below(40) as u32;
    let input = |input| (Op::Input { input }, Interval::from_width(true, width, 3));
    let mut values: Vec<ValueId> = (0..4).map(input).map(|(op, interval)| builder.op(op, interval)).collect();
    for _ in 0..3 + rng.below(4) {
        let mut pick = || values[rng.below(values.len() as u64) as usize];
        let (a, b) = (pick(), pick());
        let wide = Interval::from_width(true, width + 4, 3);
        let value = match rng.below(3) {
            0 => builder.op(Op::Add { a, b, shift: 1 }, wide),
            1 => builder.op(Op::Sub { a, b, shift: 0 }, wide),
            _ => {
                let cond = builder.op(Op::Sub { a, b, shift: 0 }, Interval::from_width(true, width + 6, 3));
                builder.op(Op::Mux { cond, on_true: a, on_false: b, shift: 0 }, wide)
            }
        };
        values.push(value);
    }
    let last = values.len() - 2;
    for &source in &values[last..] {
        builder.output(Output { source: Some(source), shift: 0, neg: false });
    }
    builder.finish().expect("a valid program")
}

/// Periods below the slowest sum are met by splitting it: the RTL is proved, the header comment is enough to find the
/// intermediate programs, and what is reported as the shortest period is met.
#[test]
fn sums_that_exceed_the_period_are_split_and_proved() {
    let mut split = 0;
    for seed in 0..12 {
        let model = wide_sums(seed);
        let device = Device::ALL[seed as usize % Device::ALL.len()];
        let mut spec = Spec::default();
        spec.target.device = Some(device);
        spec.pipeline.stages = Some(Stages::Exactly(12));
        let period = |spec: &Spec| {
            let hardware = compile::model(&model, spec)?;
            Ok::<f64, compile::Error>(spec.estimate(&hardware.netlist).period_ns)
        };
        let whole = period(&spec).expect("stages without a period");
        spec.pipeline.stages = Some(Stages::Fewest);
        spec.clock.period = Some(0.85 * whole);
        spec.prove = true;
        let Ok(hardware) = compile::model(&model, &spec) else { continue };
        assert!(spec.estimate(&hardware.netlist).period_ns <= 0.85 * whole, "seed {seed}");
        let scheduled = hardware.scheduled().expect("a pipeline");
        assert!(scheduled.passes.last().is_some_and(|pass| pass.name.starts_with("sums")), "seed {seed}");
        hardware.proved_text(Language::Verilog, &|_| {}).unwrap_or_else(|why| panic!("seed {seed}: {why:?}"));
        split += 1;
        let operations = scheduled.program.nodes().len();
        let head = [
            format!(" command: alir2hdl m.json --pipeline auto --clock-period {} --device {}", whole, device.name()),
            format!(" m: {operations} operations, 4 inputs"),
        ];
        let steps = compile::recover_passes(&model, &head).and_then(|steps| steps()).expect("programs of the header");
        assert_eq!(steps.programs.last(), Some(&*scheduled.program), "seed {seed}");
    }
    assert!(split >= 8, "{split}");
}

#[test]
fn a_period_that_operations_alone_seem_to_miss_is_met_by_the_netlist() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = alir_testing::repository().join("tests/data/auto_refuses.json.gz").display().to_string();
    let with = |options: &[&str]| {
        let fixed = [model.as_str(), "--verilog", "m.v", "--device", "xc7z020"];
        run(folder.path(), &[&fixed[..], options].concat())
    };
    let (code, _, said) = with(&["--pipeline", "auto", "--clock-period", "3.4"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("3 stages, estimated clock period 3.177 ns"), "{said}");
    // Below that, sums and comparisons are split.
    let (code, _, said) = with(&["--pipeline", "auto", "--clock-period", "2.8"]);
    assert_eq!(code, 0, "{said}");
    let (code, _, said) = with(&["--pipeline", "auto", "--clock-period", "2", "-O0"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("no pipeline of up to") && said.contains("(-O1 in stages splits it)"), "{said}");
    let (code, _, said) = with(&["--pipeline", "auto", "--clock-period", "1"]);
    assert_eq!(code, 2, "{said}");
    assert!(
        said.contains("stages take 2.292 ns by the estimate") && said.contains("require 2.292 ns or more: "),
        "{said}"
    );
    let (code, _, said) = with(&["--pipeline", "auto", "--clock-period", "2.292"]);
    assert_eq!(code, 0, "{said}");
    let (code, _, said) = with(&["--pipeline", "2", "--clock-period", "3.4"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("2 stages take 3.502 ns by the estimate"), "{said}");
    assert!(said.contains("; --pipeline auto takes as many stages as needed"), "{said}");
    let (code, _, said) = with(&["--pipeline", "0"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.ends_with("combinational, delay 4.983 ns\n"), "{said}");
}
