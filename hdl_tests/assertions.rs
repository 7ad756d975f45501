//! Assertions of SystemVerilog files in Verilator: silent for good samples, and fatal for others.

use alir_testing::{first_or_all, is_nightly, tools};
use alir2hdl::compile::{self, Spec, Stages, Top};
use alir2hdl::emit::Language;
use alir2hdl::emit::axis::AxisOptions;
use alir2hdl::ir::{Builder, Model, Op, Output};
use alir2hdl::netlist::ResetOptions;
use alir2hdl::num::Interval;
use std::path::{Path, PathBuf};
use std::process::{Command, Output as Ran};

/// An input from -3 to 9, and its negated value.
fn negation() -> Model {
    let mut b = Builder::new(vec![0]);
    let x = b.op(Op::Input { input: 0 }, Interval::new(-3, 9, 0));
    b.output(Output { source: Some(x), shift: 0, neg: true });
    b.finish().expect("a model")
}

fn text(spec: impl FnOnce(&mut Spec)) -> String {
    let mut options = Spec::default();
    options.pipeline.stages = Some(Stages::Exactly(2));
    options.module.top = Top::Named("dut".into());
    options.text.assertions = true;
    options.optimisation.assume_intervals = true;
    spec(&mut options);
    let model = negation();
    let hardware = compile::model(&model, &options).expect("hardware");
    hardware.text(Language::SystemVerilog)
}

/// Builds a simulation whose C++ main function has these statements, and returns its program.
fn simulation(dir: &Path, text: &str, statements: &str) -> Option<PathBuf> {
    tools::tool("verilator")?;
    let main = format!(
        "#include \"Vdut.h\"\n#include \"verilated.h\"\n#include <cstdlib>\nint main(int argc, char** argv) {{\n    \
         Vdut top;\n    int value = std::atoi(argv[1]);\n    int fault = std::atoi(argv[2]);\n    \
         auto clock = [&](auto& pin) {{ pin = 0; top.eval(); pin = 1; top.eval(); }};\n    {statements}\n    \
         return 0;\n}}\n"
    );
    std::fs::write(dir.join("dut.sv"), text).expect("written");
    std::fs::write(dir.join("main.cpp"), main).expect("written");
    let words = "--cc --exe --build --assert -Wall -Wno-DECLFILENAME --top-module dut dut.sv main.cpp";
    // Compiling takes longer than the simulation.
    let unoptimised = ["-MAKEFLAGS", "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0"];
    let mut verilator = Command::new("verilator");
    let built = verilator.current_dir(dir).args(words.split(' ')).args(unoptimised).output().expect("Verilator runs");
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stdout) + String::from_utf8_lossy(&built.stderr)
    );
    Some(dir.join("obj_dir/Vdut"))
}

fn run(program: &Path, value: i32, fault: i32) -> (Ran, String) {
    let ran = Command::new(program).args([value, fault].map(|n| n.to_string())).output().expect("it runs");
    let said = [ran.stdout.as_slice(), ran.stderr.as_slice()].concat();
    (ran, String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn sim_assertions_about_ranges_and_flags_fire() {
    let text = text(|spec| spec.module.valid = true);
    let dir = tempfile::tempdir().expect("a temporary folder");
    // Without its flag a sample is not checked.
    let statements = "for (int k = 0; k < 9; k++) { top.valid_in = k % 3 != 1; \
                      top.model_inp = (top.valid_in ? value : 15 + fault) & 31; clock(top.clk); }";
    let Some(program) = simulation(dir.path(), &text, statements) else { return };
    for value in [-3, 0, 9] {
        let (ran, said) = run(&program, value, 0);
        assert!(ran.status.success() && said.is_empty(), "{value}: {said}");
    }
    for value in [-4, 10] {
        let (ran, said) = run(&program, value, 0);
        assert!(!ran.status.success() && said.contains("input 0, which is -3 to 9"), "{value}: {said}");
    }
    // A flag that comes a clock too early.
    let early = text.replacen("== flags[2])", "== (flags[1] | flags[2]))", 1);
    assert_ne!(early, text);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let Some(program) = simulation(dir.path(), &early, statements) else { return };
    let (ran, said) = run(&program, 0, 0);
    assert!(!ran.status.success() && said.contains("valid_out is not valid_in of 2 clocks before"), "{said}");
}

/// With a reset, synchronous or not, and a clock enable: inputs are not checked during the reset, nor while the
/// enable is low; outputs are checked once the pipeline is filled.
#[test]
fn sim_assertions_keep_to_resets_and_enables() {
    // Each of both kinds; the nightly run takes all combinations.
    for &(asynchronous, active_high) in first_or_all(&[(false, true), (true, false), (false, false), (true, true)], 2) {
        assertions_keep_to_reset(ResetOptions { asynchronous, active_high, data: true });
    }
}

fn assertions_keep_to_reset(reset: ResetOptions) {
    let text = text(|spec| {
        spec.module.valid = true;
        spec.module.enable = true;
        spec.module.reset = Some(reset);
        spec.pipeline.stages = Some(Stages::Exactly(1));
    });
    let off = i32::from(reset.active_high);
    let statements = format!(
        "for (int k = 0; k < 20; k++) {{ top.rst = (k > 3) ^ {off}; top.ce = k % 2; top.valid_in = 1; \
         top.model_inp = (k > 3 && top.ce ? value : 15 + fault) & 31; clock(top.clk); }}"
    );
    let dir = tempfile::tempdir().expect("a temporary folder");
    let Some(program) = simulation(dir.path(), &text, &statements) else { return };
    for (value, message) in [(9, ""), (-3, ""), (10, "input 0, which is -3 to 9")] {
        let (ran, said) = run(&program, value, 0);
        assert!(ran.status.success() == message.is_empty() && said.contains(message), "{reset:?} {value}: {said}");
        assert!(!message.is_empty() || said.is_empty(), "{reset:?} {value}: {said}");
    }
    // An output out of range: the kind of reset makes no difference to this fault.
    if reset.asynchronous && !is_nightly() {
        return;
    }
    let narrow = text.replacen("output_0 <= 5'sd3", "output_0 <= 5'sd2", 1);
    assert_ne!(narrow, text);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let Some(program) = simulation(dir.path(), &narrow, &statements) else { return };
    let (ran, said) = run(&program, -3, 0);
    assert!(!ran.status.success() && said.contains("output 0, which is -9 to 3, is 3"), "{reset:?}: {said}");
}

#[test]
fn sim_assertions_about_streams_fire() {
    let text = text(|spec| spec.wrapper = Some(AxisOptions::default()));
    let dir = tempfile::tempdir().expect("a temporary folder");
    // The reader is slow, so that samples wait; the faults are those of a sender.
    let statements = "for (int k = 0; k < 60; k++) { top.aresetn = k > 3; top.m_axis_tready = k % 20 == 19; \
                      top.s_axis_tvalid = k > 5 && !(fault == 1 && k == 16); \
                      top.s_axis_tdata = (fault == 2 && k == 16 ? value + 1 : value) & 255; \
                      top.s_axis_tlast = fault == 3 && k == 16; clock(top.aclk); }";
    let Some(program) = simulation(dir.path(), &text, statements) else { return };
    for (value, fault, message) in [
        (5, 0, ""),
        (-3, 0, ""),
        (10, 0, "input 0, which is -3 to 9"),
        (5, 1, "s_axis_tvalid falls before s_axis_tready"),
        (5, 2, "s_axis: data change before s_axis_tready"),
        (5, 3, "s_axis: data change before s_axis_tready"),
    ] {
        let (ran, said) = run(&program, value, fault);
        assert!(ran.status.success() == message.is_empty() && said.contains(message), "{value} {fault}: {said}");
        assert!(!message.is_empty() || said.is_empty(), "{said}");
    }
}

/// Tools without `bind` skip the assertions; the prover reads the file as synthesis does.
#[test]
fn sim_assertions_are_skipped_elsewhere() {
    let wrapped = text(|spec| spec.wrapper = Some(AxisOptions::default()));
    let plain = text(|spec| spec.module.valid = true);
    for text in [&wrapped, &plain] {
        assert!(text.contains("assert property"));
        let dir = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(dir.path().join("dut.sv"), text).expect("written");
        for words in [
            &["iverilog", "-g2012", "-s", "dut", "-o", "out", "dut.sv"][..],
            &["yosys", "-q", "-f", "verilog -sv", "-p", "hierarchy -top dut", "dut.sv"],
        ] {
            if tools::tool(words[0]).is_none() {
                continue;
            }
            let ran = Command::new(words[0]).current_dir(dir.path()).args(&words[1..]).output().expect("it runs");
            let said = [ran.stdout.as_slice(), ran.stderr.as_slice()].concat();
            assert!(ran.status.success() && said.is_empty(), "{}", String::from_utf8_lossy(&said));
        }
    }
    let mut spec = Spec { prove: true, ..Spec::default() };
    spec.pipeline.stages = Some(Stages::Exactly(1));
    spec.text.assertions = true;
    let model = negation();
    let hardware = compile::model(&model, &spec).expect("hardware");
    let proved = hardware.proved_text(Language::SystemVerilog, &|_| {}).expect("a proof");
    assert!(proved.contains("assert property"));
}
