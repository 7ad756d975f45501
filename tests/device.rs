//! Estimates for devices, delays by device, and clocks that are met.

mod common;

use alir2hdl::device::{Delays, Device, Estimate, Resources};
use alir2hdl::ir::Model;
use alir2hdl::netlist::{Fabric, Multipliers, Options, lower, uses_with};
use alir2hdl::random;
use alir2hdl::schedule::{Delay, Goal, Schedule, schedule};
use common::{model, run};
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
    assert!(said.contains("the nearest is ecp5") && said.contains("7series"), "{said}");
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
fn every_device_estimates_every_random_program() {
    for seed in 0..60 {
        let model = random::model(seed);
        let netlist = combinational(&model);
        for device in Device::ALL {
            let estimate =
                Estimate::of(&netlist, device, Resources { multiplier_blocks: seed % 2 == 0, ..Resources::default() });
            assert_eq!(
                estimate,
                Estimate::of(&netlist, device, Resources { multiplier_blocks: seed % 2 == 0, ..Resources::default() })
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
fn delays_add_up_to_the_time_of_the_longest_path() {
    for seed in 0..60 {
        let model = random::model(seed);
        for device in [Device::Ecp5, Device::UltrascalePlus] {
            let delays = Delays::of(&model, device, Fabric::default());
            let resources = Resources { multiplier_blocks: true, ..Resources::default() };
            let whole = Estimate::of(&combinational(&model), device, resources).period_ns;
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
        let fabric = Fabric { multipliers: Multipliers::Rows, table_inputs: 4 };
        let delays = Delays::of(&model, Device::Ecp5, fabric);
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
