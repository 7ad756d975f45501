//! The AXI4-Stream wrapper in every simulator and lint tool, in random configurations.
//!
//! The normal run takes nine. ALIR2HDL_AXIS_FROM=100 ALIR2HDL_AXIS_TO=300 ALIR2HDL_AXIS_SAMPLES=10000 take two hundred
//! others with 10,000 samples each in Verilator (`cargo nextest run --test hdl any_stall`; more than an hour of one
//! core).

use crate::harness::{STANDARDS, optimised, simulators};
use crate::lint;
use alir_testing::is_nightly;
use alir_testing::random::{self, SplitMix};
use alir_testing::tools::tool;
use alir2hdl::compile::{self, Arrival, Spec, Stages, Top};
use alir2hdl::emit::axis::{Axis, AxisNames, AxisOptions, Flow, Packing, Stream};
use alir2hdl::emit::{self, Language};
use alir2hdl::ir::{Builder, Model, Op, Output};
use alir2hdl::netlist::{self, Netlist, Options};
use alir2hdl::num::Interval;
use alir2hdl::schedule;
use alir2hdl::verify::{Deadline, Job, Streams, Tools};
use std::fmt::Write;
use std::process::Command;
use std::time::Duration;

const LANGUAGES: [Language; 3] = [Language::Verilog, Language::SystemVerilog, Language::Vhdl];

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
        for language in LANGUAGES {
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
        for language in LANGUAGES {
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
        for language in LANGUAGES {
            let file = format!("{}.{}", case.axis.top, language.extension());
            let said = lint::complaints_about(&file, case.text(language).as_bytes(), &case.axis.top, language);
            assert!(said.is_empty(), "{:?}\n{}", case.axis, said.join("\n"));
        }
    }
}

/// Yosys builds the same cells from both forms of a wrapper, and SystemVerilog has none of Verilog's declarations.
#[test]
fn sim_axis_both_verilogs_are_the_same_hardware() {
    let Some(yosys) = tool("yosys") else { return };
    let cases =
        (0..8).map(case).chain((0..40).filter_map(beat_by_beat).take(2)).chain((0..6).filter_map(every_few_clocks));
    for case in cases {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let top = &case.axis.top;
        let cells = |language: Language, options: &str| {
            let file = format!("{top}.{}", language.extension());
            std::fs::write(dir.path().join(&file), case.axis.text(language)).expect("a file");
            let script = format!(
                "read_verilog {options} {file}; hierarchy -top {top}; proc; opt; memory; opt; tee -o stat stat"
            );
            let output = Command::new(&yosys).args(["-q", "-p", &script]).current_dir(&dir).output().expect("it runs");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            std::fs::read_to_string(dir.path().join("stat")).expect("statistics")
        };
        let verilog = cells(Language::Verilog, "");
        assert!(verilog.contains("$"), "{verilog}");
        assert_eq!(verilog, cells(Language::SystemVerilog, "-sv"), "{:?}", case.axis);
        let text = case.axis.text(Language::SystemVerilog);
        let old = ["reg ", "always @("].iter().find(|word| text.lines().any(|l| l.trim_start().starts_with(**word)));
        assert_eq!(old, None, "{text}");
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
        case.simulate(Language::SystemVerilog, 300, seed, None);
        case.simulate(Language::Vhdl, 300, seed, Some("ghdl"));
    }
}

/// Builds a program of products with these numbers of inputs and outputs, one byte each.
fn products(inputs: u32, outputs: u32) -> Model {
    let byte = || Interval::new(-128, 127, 0);
    let mut builder = Builder::new(vec![0; inputs as usize]);
    let read: Vec<_> = (0..inputs).map(|input| builder.op(Op::Input { input }, byte())).collect();
    for output in 0..outputs as usize {
        let (a, b) = (read[output % read.len()], read[(output + 1) % read.len()]);
        let x = builder.op(Op::Mul { a, b }, Interval::new(-16256, 16384, 0));
        let low = builder.op(Op::Quantise { x, shift: 0 }, byte());
        builder.output(Output { source: Some(low), shift: 0, neg: false });
    }
    builder.finish().expect("a valid program")
}

/// The default FIFO sustains the stated rate, and no smaller one does.
#[test]
fn sim_axis_default_depth_is_the_least_at_full_rate() {
    const SAMPLES: u32 = 30;
    if tool("iverilog").is_none() {
        return;
    }
    let (mut text, mut benches, mut expected) = (String::new(), String::new(), Vec::new());
    let sizes = [(1, 1), (1, 3), (2, 1), (2, 2), (3, 2), (3, 3), (3, 5), (5, 5)];
    let kinds = [(0, None), (1, None), (3, None), (0, Some(2)), (0, Some(3)), (0, Some(4)), (0, Some(7))];
    for ((inputs, outputs), (stages, interval)) in sizes.iter().flat_map(|&size| kinds.map(|kind| (size, kind))) {
        for arrival in [Arrival::Captured, Arrival::Beats] {
            if arrival == Arrival::Beats && (inputs == 1 || interval.is_none_or(|interval| interval < inputs)) {
                continue;
            }
            let wrapper = AxisOptions { width: Some(8), user: 0, ..AxisOptions::default() };
            let mut spec = Spec { wrapper: Some(wrapper), ..Spec::default() };
            spec.pipeline.stages = interval.is_none().then_some(Stages::Exactly(stages));
            (spec.pipeline.interval, spec.pipeline.arrival) = (interval, arrival);
            spec.module.top = Top::Named(format!("axis_{}", expected.len()));
            let model = products(inputs, outputs);
            let hardware = compile::model(&model, &spec).expect("hardware");
            let axis = hardware.axis.as_ref().expect("a wrapper");
            text += &emit::text(&hardware.netlist, Language::Verilog, &emit::Options::default());
            let (rate, depth) = (axis.initiation_interval(), axis.depth.expect("a FIFO"));
            for depth in (depth - 1).max(1)..=depth {
                let k = expected.len();
                expected.push((
                    axis.depth == Some(depth),
                    rate,
                    format!("depth {depth}: {:?}", (inputs, outputs, stages, interval, arrival)),
                ));
                let axis = Axis { top: format!("measured_{k}"), depth: Some(depth), ..axis.clone() };
                text += &axis.text(Language::Verilog);
                let (first, last) = (SAMPLES * outputs, 2 * SAMPLES * outputs);
                write!(
                    benches,
                    "wire ready{k}, valid{k}, last{k}; wire [7:0] data{k}; integer seen{k} = 0, start{k} = 0;
                    measured_{k} u{k} (.aclk(clk), .aresetn(resetn), .s_axis_tdata(8'd1), .s_axis_tvalid(offered),
                        .s_axis_tready(ready{k}), .s_axis_tlast(1'b0), .m_axis_tdata(data{k}), .m_axis_tvalid(valid{k}),
                        .m_axis_tready(1'b1), .m_axis_tlast(last{k}));
                    always @(posedge clk) if (valid{k}) begin
                        seen{k} <= seen{k} + 1;
                        if (seen{k} == {first}) start{k} <= cycle;
                        if (seen{k} == {last}) $display(\"{k} %0d\", cycle - start{k});
                    end\n"
                )
                .expect("a string grows");
            }
        }
    }
    let bench = format!(
        "module bench; reg clk = 0, resetn = 0, offered = 0; integer cycle = 0; always #5 clk = ~clk;
        always @(posedge clk) begin
            cycle <= cycle + 1; if (cycle == 3) resetn <= 1; if (cycle == 9) offered <= 1; if (cycle == 2000) $finish;
        end\n{benches}endmodule\n"
    );
    let dir = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(dir.path().join("bench.v"), text + &bench).expect("a file");
    let run = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).current_dir(&dir).output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    run("iverilog", &["-g2001", "-o", "bench.vvp", "-s", "bench", "bench.v"]);
    let mut measured = vec![None; expected.len()];
    for line in run("vvp", &["-n", "bench.vvp"]).lines() {
        let Some((k, clocks)) = line.split_once(' ') else { continue };
        if let (Ok(k), Ok(clocks)) = (k.parse::<usize>(), clocks.parse::<u32>()) {
            measured[k] = Some(clocks);
        }
    }
    for ((is_default, rate, what), clocks) in expected.iter().zip(measured) {
        // The core's rhythm moves a sample by less than its interval.
        let full = clocks.is_some_and(|clocks| clocks <= SAMPLES * rate + 7);
        assert_eq!(full, *is_default, "{what}: {clocks:?} clocks for {SAMPLES} samples every {rate}");
    }
}

/// Every simulator's bench detects each register of a wrapper that keeps its value in a reset.
#[test]
fn sim_axis_broken_resets_are_detected() {
    let plain = |case: &Case| case.axis.input.beats > 1 && (2..20).contains(&case.axis.output.beats);
    let even = || (0..400).step_by(2);
    let cases = [
        even().map(case).find(|c| c.axis.depth.is_some() && c.axis.core.latency > 1 && plain(c)),
        even().map(case).find(|c| c.axis.depth.is_none() && c.axis.core.latency > 1 && plain(c)),
        even().filter_map(every_few_clocks).find(|c| c.axis.depth.is_some() && plain(c)),
        even().filter_map(beat_by_beat).find(|c| c.axis.depth.is_some() && plain(c)),
    ];
    for (simulator, language) in [("iverilog", Language::Verilog), ("ghdl", Language::Vhdl)] {
        let Some(simulator) = simulators(language).into_iter().find(|s| s.name() == simulator) else { continue };
        // VHDL takes longer, and its bench draws the same kinds of resets.
        let most = if language == Language::Vhdl { 1 } else { cases.len() };
        for case in cases.iter().flatten().take(most) {
            let streams = Streams::plan(&case.model, &case.axis, 60, 1);
            let core = emit::text(&case.core, language, &emit::Options::default());
            let wrapper = case.axis.text(language);
            let mutants = kept_in_reset(&wrapper, language);
            assert!(mutants.len() > 2, "{mutants:?}");
            for (register, mutant) in mutants {
                let dir = tempfile::tempdir().expect("a temporary folder");
                let file = format!("axis.{}", language.extension());
                let job = Job {
                    design: &[(file, (core.clone() + &mutant).into_bytes())],
                    language,
                    bench: &streams,
                    vhdl_standard: "93",
                    dir: dir.path(),
                    deadline: Deadline::after(Duration::from_secs(600)),
                };
                let report = simulator.run(&job, &Tools::from_environment()).expect("it runs");
                assert!(report.wrong_rows > 0, "{}: {register}: {:?}", simulator.name(), case.axis);
            }
        }
    }
}

/// Returns, for each register that the reset of this wrapper clears, its name and the wrapper without that.
fn kept_in_reset(text: &str, language: Language) -> Vec<(String, String)> {
    let begin = if language == Language::Vhdl { "if aresetn = '0' then" } else { "if (!aresetn)" };
    let mut mutants = Vec::new();
    let mut inside = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let starts = line.trim_start().starts_with(begin);
        inside = starts || (inside && !["els", "end"].iter().any(|end| line.trim_start().starts_with(end)));
        if let Some((left, right)) = line.split_once(" <= ").filter(|_| inside) {
            let register = left.split_whitespace().last().unwrap_or_default();
            let rest = &right[right.find(';').unwrap_or(0)..];
            let mutant = format!("{}{left} <= {register}{rest}{}", &text[..at], &text[at + line.len()..]);
            mutants.push((register.to_owned(), mutant));
        }
        // A reset without a block clears one register.
        inside &= !(starts && line.contains(" <= "));
        at += line.len();
    }
    mutants
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
