//! Tables of every width and shape, in every form, in every simulator.

use crate::harness::{Case, assert_equal_everywhere, optimised};
use crate::projects::tool;
use alir_testing::is_nightly;
use alir_testing::random::tables;
use alir2hdl::device::Device;
use alir2hdl::emit::{self, Language, RomStyle};
use alir2hdl::ir::{Builder, Op, Output, Table, Term};
use alir2hdl::netlist::{Fabric, Options, lower};
use alir2hdl::num::Interval;
use alir2hdl::schedule::{self, Schedule};
use std::process::Command;

#[test]
fn sim_tables_are_equal_in_every_form() {
    let styles = [
        RomStyle::Pieces { table_inputs: 6 },
        RomStyle::Pieces { table_inputs: 4 },
        RomStyle::ByCost { device: Device::Ice40 },
        RomStyle::Auto,
        RomStyle::Block,
        RomStyle::Logic,
    ];
    let case = |seed: u64| {
        let model = tables::program(seed);
        let built = optimised(&model, (seed % 3) as u8);
        let stages = if seed % 4 == 3 { 2 } else { 0 };
        let schedule = schedule::random(&built, stages, false, seed);
        let options = Options { top: format!("table_{seed}"), ..Options::default() };
        let emit = emit::Options { rom_style: styles[seed as usize / 3 % styles.len()], ..emit::Options::default() };
        Case { emit, ..Case::optimised(&model, &built, &schedule, &options, 150, seed) }
    };
    // 36 have every style with every level and number of stages.
    let programs = if is_nightly() { 90 } else { 48 };
    let cases: Vec<Case> = (0..programs).map(case).collect();
    assert_equal_everywhere(&cases);
}

/// Yosys makes a memory of a table and takes plain registers of its address into it, to give them back after the
/// table.
#[test]
fn tables_stay_behind_the_registers_of_their_addresses_in_yosys() {
    let Some(yosys) = tool("yosys") else { return };
    let mut builder = Builder::new(vec![0, 0]);
    let table = builder.table(Table {
        entries: (0..512).map(|i| (i * i / 7) % 64).collect(),
        out: Interval::new(0, 63, 0),
        hash: String::new(),
        inp_width: 0,
    });
    let x = builder.op(Op::Input { input: 0 }, Interval::new(0, 511, 0));
    let y = builder.op(Op::Input { input: 1 }, Interval::new(0, 63, 0));
    let word = builder.op(Op::Lookup { x, table, base: 0.into() }, Interval::new(0, 63, 0));
    let terms = [word, y].map(|value| Term { value, shift: 0, neg: false });
    let sum = builder.op(Op::Sum { terms: terms.into() }, Interval::new(0, 126, 0));
    builder.output(Output { source: Some(sum), shift: 0, neg: false });
    let model = builder.finish().unwrap_or_else(|p| panic!("{p:?}"));
    let stage = vec![1; model.nodes().len()];
    let schedule = Schedule { stages: 1, register_inputs: true, register_outputs: false, stage };
    let flip_flops = |start_addresses: bool| {
        let fabric = Fabric { table_inputs: 4, start_addresses, ..Fabric::default() };
        let netlist = lower(&model, &schedule, &Options { fabric, ..Options::default() });
        let folder = tempfile::tempdir().expect("a folder");
        let text = emit::text(&netlist, Language::Verilog, &emit::Options::default());
        std::fs::write(folder.path().join("top.v"), text).expect("the file is written");
        let script = "read_verilog top.v; synth_ecp5 -nobram -top model; tee -q -o stat.txt stat";
        let said = Command::new(&yosys).current_dir(folder.path()).args(["-q", "-p", script]).output().expect("yosys");
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        let stat = std::fs::read_to_string(folder.path().join("stat.txt")).expect("statistics");
        let line = stat.lines().find(|line| line.contains("TRELLIS_FF")).expect("flip-flops");
        let count: u64 = line.split_whitespace().last().and_then(|n| n.parse().ok()).expect("a number");
        (count, netlist.register_bits())
    };
    let (count, bits) = flip_flops(true);
    assert_eq!((count, bits), (22, 22));
    // What it does to other text, so that the test notices once that is no longer so.
    assert_eq!(flip_flops(false), (19, 22));
}

/// The words of a BRAM come to yosys without one object each, and are a memory there.
#[test]
fn block_memories_are_one_memory_in_yosys() {
    let Some(yosys) = tool("yosys") else { return };
    let mut builder = Builder::new(vec![0]);
    let range = Interval::new(0, 255, 0);
    let table = builder.table(Table {
        entries: (0..2048).map(|i| (i * i / 7 + i) % 256).collect(),
        out: range.clone(),
        hash: String::new(),
        inp_width: 0,
    });
    let x = builder.op(Op::Input { input: 0 }, Interval::new(0, 2047, 0));
    let word = builder.op(Op::Lookup { x, table, base: 0.into() }, range);
    builder.output(Output { source: Some(word), shift: 0, neg: false });
    let model = builder.finish().unwrap_or_else(|p| panic!("{p:?}"));
    let schedule = Schedule { stages: 1, register_inputs: true, register_outputs: false, stage: vec![1; 2] };
    let netlist = lower(&model, &schedule, &Options { top: "memory".into(), ..Options::default() });
    let text =
        emit::text(&netlist, Language::Verilog, &emit::Options { rom_style: RomStyle::Block, ..Default::default() });
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("memory.v"), text).expect("written");
    let script = "read_verilog memory.v; hierarchy -top memory; proc; select -assert-max 20 t:*; memory -nomap; opt \
                  -full; \
                  select -assert-count 1 t:$mem_v2; select -assert-none t:$pmux t:$mux; check -assert";
    let output =
        Command::new(yosys).current_dir(folder.path()).args(["-q", "-p", script]).output().expect("yosys runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
