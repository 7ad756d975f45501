//! Register bits of the RTL, counted by yosys: as many as the scheduler, the netlist and the interface file say.

use crate::fuzz;
use crate::harness::{optimised, read_model, skip};
use alir_testing::is_nightly;
use alir2hdl::compile;
use alir2hdl::emit::{self, Language, Sidecar, StageDelays};
use alir2hdl::netlist::{self, Netlist, Options, ResetOptions};
use alir2hdl::options::HardwareOptions;
use alir2hdl::schedule::{self, Goal, Outcome};
use std::path::Path;
use std::process::{Command, Stdio};

/// Bits of all flip-flops of each design, in one run of yosys; `None` if it is not installed.
fn counted(designs: &[(String, String)]) -> Option<Vec<u64>> {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut script = String::new();
    for (i, (top, text)) in designs.iter().enumerate() {
        std::fs::write(dir.path().join(format!("{i}.v")), text).expect("a file in it");
        script += &format!("design -reset; read_verilog {i}.v; hierarchy -top {top}; proc; flatten; opt_clean; ");
        script += &format!("tee -q -o {i}.txt stat -width\n");
    }
    std::fs::write(dir.path().join("count.ys"), script).expect("a file in it");
    let run = Command::new("yosys")
        .args(["-q", "-s", "count.ys"])
        .current_dir(dir.path())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| skip("yosys", &error.to_string()))
        .ok()?;
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    Some((0..designs.len()).map(|i| bits_in(&dir.path().join(format!("{i}.txt")))).collect())
}

/// Bits of all flip-flops in statistics that list cells as `$dff_12   5`, by type and width.
fn bits_in(statistics: &Path) -> u64 {
    let text = std::fs::read_to_string(statistics).expect("statistics");
    assert!(text.contains("Number of cells"), "{text}");
    assert!(text.lines().all(|line| !line.contains("$dlatch")), "{text}");
    // Tables in pieces are modules of their own, kept when the rest is made flat: what counts is the total, which comes
    // last.
    let total = text.rsplit("===").next().expect("a section");
    let cells = total.lines().filter_map(|line| line.trim().strip_prefix('$')?.split_once(' '));
    let flip_flops = cells.filter_map(|(cell, count)| {
        let (kind, width) = cell.rsplit_once('_')?;
        let is_register = kind.contains("dff") || kind.contains("sr");
        is_register.then(|| width.parse::<u64>().expect("a width") * count.trim().parse::<u64>().expect("a number"))
    });
    flip_flops.sum()
}

/// Returns the number in the interface file.
fn in_sidecar(netlist: &Netlist, outcome: &Outcome) -> u64 {
    let delays = StageDelays { delays: outcome.stage_delays.clone(), unit: "latency units" };
    let sidecar = Sidecar::new(netlist, &[Language::Verilog], &delays, String::new());
    serde_json::to_value(&sidecar).expect("JSON")["register_bits"].as_u64().expect("a number")
}

/// All four counts of some pipelines, each with the flags of `Options::valid` apart.
fn assert_equal_counts(pipelines: &[(String, Netlist, Outcome, emit::Options)]) {
    let text = |netlist, options| emit::text(netlist, Language::Verilog, options);
    let designs: Vec<(String, String)> = pipelines
        .iter()
        .map(|(_, netlist, _, options)| (netlist.interface.top.clone(), text(netlist, options)))
        .collect();
    let yosys = counted(&designs);
    for (i, (name, netlist, outcome, _)) in pipelines.iter().enumerate() {
        let bits = netlist.register_bits();
        let flags = if netlist.interface.valid.is_some() { u64::from(netlist.interface.latency) } else { 0 };
        assert_eq!(bits, outcome.register_bits + flags, "{name}: netlist and schedule");
        assert_eq!(bits, in_sidecar(netlist, outcome), "{name}: netlist and interface file");
        if let Some(yosys) = &yosys {
            assert_eq!(bits, yosys[i], "{name}: netlist and yosys");
        }
    }
}

/// A pipeline of a model as the program makes it.
fn pipeline(name: &str, stages: u32, level: u8) -> (String, Netlist, Outcome, emit::Options) {
    let model = optimised(&read_model(name), level);
    // Different ports and registers at the edges for different numbers of stages.
    let (register_inputs, register_outputs) = (stages.is_multiple_of(2), stages.is_multiple_of(3));
    let goal = Goal { register_inputs, register_outputs, ..Goal::stages(stages) };
    let uses = netlist::uses(&model);
    let outcome = schedule::schedule(&model, schedule::default_delay(&model), &goal, &uses).expect("possible");
    let reset = ResetOptions { asynchronous: stages == 4, active_high: true, data: true };
    let options = Options {
        valid: stages >= 3,
        enable: stages == 5,
        reset: (stages >= 4).then_some(reset),
        top: format!("{name}_p{stages}"),
        ..Options::default()
    };
    let netlist = netlist::lower(&model, &outcome.schedule, &options);
    (format!("{name}, {stages} stages, -O{level}"), netlist, outcome, emit::Options::default())
}

#[test]
fn sim_yosys_counts_the_register_bits_of_real_models_as_we_do() {
    let everything = std::env::var_os("ALIR2HDL_MATRIX").is_some() || is_nightly();
    let small = ["tiny_ops", "edge_kif", "over64", "wide_acc", "bit_logic", "sort_topk", "var_mul"];
    let large = ["lut_heavy", "anomaly_ae", "jet_mlp", "cmvm_64x64", "conv_small", "mlp_8bit", "mixer_particles"];
    for name in small {
        let pipelines: Vec<_> = (1..=8).map(|stages| pipeline(name, stages, (stages % 3) as u8)).collect();
        assert_equal_counts(&pipelines);
    }
    for name in large.iter().take(if everything { large.len() } else { 1 }) {
        let last = if everything { 8 } else { 2 };
        let pipelines: Vec<_> = (2..=last).map(|stages| pipeline(name, stages, (stages % 2) as u8)).collect();
        assert_equal_counts(&pipelines);
    }
}

#[test]
fn sim_yosys_counts_the_register_bits_of_random_programs_as_we_do() {
    let pipelines: Vec<_> = (0..150)
        .map(|seed| fuzz::case(seed, 1))
        .filter(|case| case.netlist.register_bits() > 0)
        .map(|case| {
            (case.netlist.interface.top.clone(), emit::text(&case.netlist, Language::Verilog, &case.emit), case)
        })
        .collect();
    assert!(pipelines.len() > 50, "{}", pipelines.len());
    let designs: Vec<_> = pipelines.iter().map(|(top, text, _)| (top.clone(), text.clone())).collect();
    let Some(yosys) = counted(&designs) else { return };
    for ((top, _, case), bits) in pipelines.iter().zip(yosys) {
        assert_eq!(case.netlist.register_bits(), bits, "{top}");
    }
}

/// Register bits of AXI4-Stream wrappers, without the memory of the FIFO.
#[test]
fn sim_yosys_counts_the_register_bits_of_wrappers_as_we_do() {
    let options = [
        "--stages 2",
        "--stages 0 --axis-user 0",
        "--stages 2 --axis-width 16",
        "--stages 2 --axis-width 16 --axis-flow stall",
        "--stages 1 --axis-flow stall",
        "--ii 4 --axis-width 8",
        "--ii 4 --ii-input beats --axis-width 16",
        "--ii 3 --axis-width 16 --axis-flow stall",
    ];
    let model = read_model("tiny_ops");
    for words in options {
        let words = ["--wrapper", "axis"].into_iter().chain(words.split(' ')).chain(["--top", "w"]);
        let spec = HardwareOptions::from_words(words.clone()).spec("w");
        let hardware = compile::model(&model, &spec).expect("a wrapper");
        let sidecar = serde_json::to_value(hardware.sidecar(&[Language::Verilog], String::new())).expect("JSON");
        let dir = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(dir.path().join("w.v"), hardware.text(Language::Verilog)).expect("a file in it");
        let script = "read_verilog w.v; hierarchy -top w; proc; flatten; opt_clean; pmuxtree; simplemap; opt_clean; \
                      tee -q -o w.txt stat";
        let mut yosys = Command::new("yosys");
        yosys.args(["-q", "-p", script]).current_dir(dir.path()).stdin(Stdio::null());
        let Ok(run) = yosys.output().map_err(|error| skip("yosys", &error.to_string())) else { return };
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let text = std::fs::read_to_string(dir.path().join("w.txt")).expect("statistics");
        let flip_flops = text.lines().filter_map(|line| line.trim().strip_prefix("$_")?.split_once(' '));
        let flip_flops = flip_flops.filter(|(cell, _)| cell.contains("DFF"));
        let count: u64 = flip_flops.map(|(_, count)| count.trim().parse::<u64>().expect("a number")).sum();
        assert_eq!(sidecar["register_bits"], count, "{words:?}\n{text}", words = words.collect::<Vec<_>>());
        let parts = [&sidecar["core"]["register_bits"], &sidecar["axis"]["register_bits"]];
        assert_eq!(parts.map(|bits| bits.as_u64().expect("a number")).iter().sum::<u64>(), count);
        assert!(
            hardware.estimate().ff <= count
                && hardware.estimate().ff >= sidecar["axis"]["register_bits"].as_u64().unwrap()
        );
    }
}
