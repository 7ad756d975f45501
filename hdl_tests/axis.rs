//! The AXI4-Stream wrapper in every simulator and lint tool, in random configurations.
//!
//! The normal run takes nine. ALIR2HDL_AXIS_FROM=100 ALIR2HDL_AXIS_TO=300 ALIR2HDL_AXIS_SAMPLES=10000 take two hundred
//! others with 10,000 samples each in Verilator (`cargo nextest run --test hdl any_stall`; more than an hour of one
//! core).

use crate::harness::{STANDARDS, optimised, simulators};
use crate::lint;
use alir_testing::is_nightly;
use alir_testing::random::{self, SplitMix};
use alir2hdl::compile::{self, Arrival, Spec, Top};
use alir2hdl::emit::axis::{Axis, AxisNames, AxisOptions, Flow, Packing, Stream};
use alir2hdl::emit::{self, Language};
use alir2hdl::ir::Model;
use alir2hdl::netlist::{self, Netlist, Options};
use alir2hdl::schedule;
use alir2hdl::verify::{Deadline, Job, Streams, Tools};
use std::time::Duration;

/// A pipeline that waits, with several beats on both sides and more of them after it than before it.
const GAPS: u64 = 103;

pub(crate) struct Case {
    model: Model,
    core: Netlist,
    pub(crate) axis: Axis,
}

/// Usual names for every other wrapper; the others have a clock that is called as the core's, and streams in capitals
/// and with several parts.
fn names(seed: u64) -> AxisNames {
    match seed % 2 {
        0 => AxisNames::default(),
        _ => {
            let [clock, reset, input, output] = ["clk", "Reset_N", "RX", "to_dma_0"].map(str::to_owned);
            AxisNames { clock, reset, input, output }
        }
    }
}

/// A random program in a random wrapper.
pub(crate) fn case(seed: u64) -> Case {
    let model = random::model(seed);
    let mut rng = SplitMix::new(seed ^ 0xa815);
    let built = optimised(&model, 1);
    let stages = [0, 1, 2, 3, 7, 12][rng.below(6) as usize];
    let schedule = schedule::random(&built, stages, stages > 0 && rng.below(3) == 0, seed);
    let stall = rng.below(3) == 0;
    let options = Options { top: format!("axis_{seed}_core"), enable: stall, ..Options::default() };
    let core = netlist::lower(&built, &schedule, &options);
    let widest = [&core.interface.inputs, &core.interface.outputs]
        .iter()
        .flat_map(|elements| elements.iter().map(|e| e.width))
        .max()
        .unwrap_or(0);
    let packing = match rng.below(4) {
        0 => Packing::Dense,
        1 if widest <= 32 => Packing::Slot(32),
        2 if widest <= 64 => Packing::Slot(64),
        _ => Packing::Auto,
    };
    let options = AxisOptions {
        packing,
        width: [None, Some(8), Some(16), Some(24), Some(64), Some(128)][rng.below(6) as usize],
        user: [0, 1, 5][rng.below(3) as usize],
        flow: match (stall, rng.below(4)) {
            (true, _) => Flow::Stall,
            (false, 0) => Flow::Fifo(Some(1 + rng.below(20) as u32)),
            (false, _) => Flow::Fifo(None),
        },
        names: names(seed),
    };
    let axis = Axis::new(&format!("axis_{seed}"), &core.interface, &options).expect("a wrapper that can be built");
    Case { model, core, axis }
}

/// A random program that takes a sample every few clocks, in a random wrapper; nothing if it is constant.
fn every_few_clocks(seed: u64) -> Option<Case> {
    let model = random::model(seed);
    let mut rng = SplitMix::new(seed ^ 0x5eed);
    let mut spec = Spec::default();
    spec.pipeline.interval = Some([2, 3, 4, 5, 7, 8, 16, 33][rng.below(8) as usize]);
    spec.pipeline.register_outputs = rng.below(3) == 0;
    spec.module.top = Top::Named(format!("axis_{seed}"));
    spec.wrapper = Some(AxisOptions {
        packing: if rng.below(3) == 0 { Packing::Dense } else { Packing::Auto },
        width: [None, Some(8), Some(16), Some(32), Some(64), Some(128)][rng.below(6) as usize],
        user: [0, 1, 5][rng.below(3) as usize],
        flow: match rng.below(5) {
            0 | 1 => Flow::Stall,
            2 => Flow::Fifo(Some(1 + rng.below(8) as u32)),
            _ => Flow::Fifo(None),
        },
        names: names(seed),
    });
    let hardware = compile::model(&model, &spec).expect("hardware");
    hardware.reused()?;
    let (core, axis) = (hardware.netlist.clone(), hardware.axis.clone().expect("a wrapper"));
    drop(hardware);
    Some(Case { model, core, axis })
}

/// Builds a case with beats that enter the core as they come; `None` if it is constant, or a sample is one beat or an
/// element in two.
pub(crate) fn beat_by_beat(seed: u64) -> Option<Case> {
    let model = random::model(seed);
    let mut rng = SplitMix::new(seed ^ 0xbea75);
    let wrapper = AxisOptions {
        packing: if rng.below(3) == 0 { Packing::Dense } else { Packing::Auto },
        width: Some([8, 16, 32, 64, 128][rng.below(5) as usize]),
        user: [0, 1, 5][rng.below(3) as usize],
        flow: match rng.below(5) {
            0 | 1 => Flow::Stall,
            2 => Flow::Fifo(Some(1 + rng.below(8) as u32)),
            _ => Flow::Fifo(None),
        },
        names: names(seed),
    };
    let widths: Vec<u32> = model.input_kifs().iter().map(|kif| kif.width()).collect();
    let beats = Stream::from_inputs(&widths, &wrapper).ok()?.beats;
    let mut spec = Spec { wrapper: Some(wrapper), ..Spec::default() };
    spec.pipeline.interval = Some((beats + [0, 0, 1, 5][rng.below(4) as usize]).max(2));
    spec.pipeline.arrival = Arrival::Beats;
    spec.module.top = Top::Named(format!("axis_{seed}"));
    let hardware = compile::model(&model, &spec).ok()?;
    hardware.reused()?;
    let (core, axis) = (hardware.netlist.clone(), hardware.axis.clone()?);
    drop(hardware);
    Some(Case { model, core, axis })
}

#[test]
fn sim_axis_beats_go_into_the_core_as_they_come() {
    let seeds = number("ALIR2HDL_AXIS_FROM", 0)..number("ALIR2HDL_AXIS_TO", 400);
    let samples = number("ALIR2HDL_AXIS_SAMPLES", 150) as usize;
    let mut kinds = Vec::new();
    for case in seeds.filter_map(beat_by_beat) {
        // Of each kind two: with a FIFO or not, as fast as beats come or slower.
        let kind = (case.axis.depth.is_some(), case.axis.input.beats < case.core.interface.initiation_interval);
        if kinds.iter().filter(|&&seen| seen == kind).count() >= 2 {
            continue;
        }
        kinds.push(kind);
        for language in [Language::Verilog, Language::Vhdl] {
            let file = format!("{}.{}", case.axis.top, language.extension());
            let said = lint::complaints_about(&file, case.text(language).as_bytes(), &case.axis.top, language);
            assert!(said.is_empty(), "{:?}\n{}", case.axis, said.join("\n"));
            case.simulate(language, samples, 1, None);
        }
    }
    assert!(kinds.len() == 8 || std::env::var("ALIR2HDL_AXIS_TO").is_ok(), "{kinds:?}");
}

/// Cores that take a sample every few clocks, at the rate that the wrapper promises.
#[test]
fn sim_axis_of_cores_that_take_a_sample_every_few_clocks() {
    let programs = if is_nightly() { 10 } else { 6 };
    let seeds = number("ALIR2HDL_AXIS_FROM", 0)..number("ALIR2HDL_AXIS_TO", programs);
    let samples = number("ALIR2HDL_AXIS_SAMPLES", 300) as usize;
    for case in seeds.filter_map(every_few_clocks) {
        for language in [Language::Verilog, Language::Vhdl] {
            let file = format!("{}.{}", case.axis.top, language.extension());
            let said = lint::complaints_about(&file, case.text(language).as_bytes(), &case.axis.top, language);
            assert!(said.is_empty(), "{:?}\n{}", case.axis, said.join("\n"));
            case.simulate(language, samples, 1, None);
        }
    }
}

impl Case {
    fn text(&self, language: Language) -> String {
        emit::text(&self.core, language, &emit::Options::default()) + &self.axis.text(language)
    }

    fn simulate(&self, language: Language, samples: usize, seed: u64, only: Option<&str>) {
        let streams = Streams::plan(&self.model, &self.axis, samples, seed);
        for simulator in simulators(language).into_iter().filter(|s| only.is_none_or(|name| s.name() == name)) {
            let standards = STANDARDS.iter().find(|s| s.0 == language).expect("a known language").1;
            for standard in standards {
                let dir = tempfile::tempdir().expect("a temporary folder");
                let file = format!("{}.{}", self.axis.top, language.extension());
                let job = Job {
                    design: &[(file, self.text(language).into_bytes())],
                    language,
                    bench: &streams,
                    vhdl_standard: standard,
                    dir: dir.path(),
                    deadline: Deadline::after(Duration::from_secs(1200)),
                };
                let name = format!("{} {standard}, {}", simulator.name(), self.axis.top);
                let report = simulator.run(&job, &Tools::from_environment()).unwrap_or_else(|e| panic!("{name}: {e}"));
                let said: Vec<String> = report.mismatches.iter().take(5).map(ToString::to_string).collect();
                assert_eq!(report.wrong_rows, 0, "{name}: {:?}\n{}", self.axis, said.join("\n"));
            }
        }
    }
}

#[test]
fn sim_axis_no_tool_complains() {
    for seed in (0..16).chain([GAPS]) {
        let case = case(seed);
        for language in [Language::Verilog, Language::Vhdl] {
            let file = format!("{}.{}", case.axis.top, language.extension());
            let said = lint::complaints_about(&file, case.text(language).as_bytes(), &case.axis.top, language);
            assert!(said.is_empty(), "{:?}\n{}", case.axis, said.join("\n"));
        }
    }
}

/// A number from the environment.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

#[test]
fn sim_axis_streams_pass_in_order_under_any_stall() {
    let programs = if is_nightly() { 8 } else { 5 };
    let seeds = number("ALIR2HDL_AXIS_FROM", 0)..number("ALIR2HDL_AXIS_TO", programs);
    let samples = number("ALIR2HDL_AXIS_SAMPLES", 1000) as usize;
    for seed in seeds.chain([GAPS]) {
        let case = case(seed);
        case.simulate(Language::Verilog, samples, seed, Some("verilator"));
        case.simulate(Language::Verilog, 300, seed, Some("iverilog"));
        case.simulate(Language::Vhdl, 300, seed, Some("ghdl"));
    }
}

/// The benches must find what they look for: each of these wrappers breaks one rule. Even seeds have the names that the
/// rules are written with.
#[test]
fn sim_axis_broken_wrappers_are_found() {
    let with_fifo = (0..).step_by(2).map(case).find(|c| {
        c.axis.depth.is_some()
            && c.axis.core.latency > 1
            && c.axis.input.beats == 1
            && (2..20).contains(&c.axis.output.beats)
    });
    let with_fifo = with_fifo.expect("some seed has a FIFO");
    let breaks = [
        // A credit too many: results are lost.
        ("credits != ", "1'b1 || credits != "),
        // The beat counter runs on while the reader waits.
        ("else if (result_valid & m_axis_tready) beat", "else if (result_valid) beat"),
        // The end of a packet is said on every beat.
        ("result[0] & last_beat", "result[0]"),
        // Reset leaves flags standing.
        ("if (!aresetn) valid <= ", "if (1'b0) valid <= "),
        // Ready follows the reader within the clock.
        ("assign s_axis_tready = ", "assign s_axis_tready = m_axis_tready & "),
    ];
    let gaps = (0..).map(case).find(|c| {
        let (input, output) = (c.axis.input.beats, c.axis.output.beats);
        c.axis.depth.is_none() && c.axis.core.latency > 1 && input > 1 && output > input && output < 20
    });
    let gaps = gaps.expect("some seed waits");
    // The pipeline waits though only the register after it is full, and the gaps between samples stay.
    let done = format!("~valid[{}] | ", gaps.axis.core.latency - 1);
    let slow = [(done.as_str(), "")];
    let verilator = simulators(Language::Verilog).into_iter().find(|s| s.name() == "verilator");
    let Some(verilator) = verilator else { return };
    for (case, right, broken) in
        breaks.iter().map(|b| (&with_fifo, b.0, b.1)).chain(slow.iter().map(|b| (&gaps, b.0, b.1)))
    {
        let streams = Streams::plan(&case.model, &case.axis, 400, 1);
        let text = case.text(Language::Verilog);
        assert!(text.contains(right), "{right} is not in\n{text}");
        let dir = tempfile::tempdir().expect("a temporary folder");
        let job = Job {
            design: &[("axis.v".into(), text.replacen(right, broken, 1).into_bytes())],
            language: Language::Verilog,
            bench: &streams,
            vhdl_standard: "93",
            dir: dir.path(),
            deadline: Deadline::after(Duration::from_secs(600)),
        };
        let report = verilator.run(&job, &Tools::from_environment()).expect("it runs");
        assert!(report.wrong_rows > 0, "{broken} is not found");
    }
}
