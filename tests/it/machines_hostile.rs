//! Damaged and hostile files of stateful designs: 10,000 mutations with a fixed seed. Never a panic, never more memory
//! than a small multiple of the file; what is still valid becomes hardware that does what the simulator says.

use crate::hostile::{most_held, mutated};
use alir_testing::random::SplitMix;
use alir_testing::random::machine::stimulus;
use alir2hdl::formats;
use alir2hdl::interp::LookupMiss;
use alir2hdl::interp::machine::Simulation;
use alir2hdl::ir::Limits;
use alir2hdl::ir::machine::Machine;
use alir2hdl::netlist::{Evaluator, lower_machine};
use num_bigint::BigInt;
use std::path::Path;

/// Returns the files to mutate: each design as gzip and as text.
fn originals() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models/fsm");
    let names = ["register_file", "select_hold", "leaky_integrator", "biquad", "serial_matvec"];
    let mut files = Vec::new();
    for name in names {
        let packed = std::fs::read(folder.join(name).join("fsm.json.gz")).unwrap();
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(packed.as_slice()), &mut text).unwrap();
        files.extend([packed, text.clone(), text.clone(), text]);
    }
    files
}

fn read(bytes: &[u8]) -> Option<Machine> {
    formats::read_machine(bytes, &Limits::default()).ok()
}

/// A few cycles in the hardware and in the golden simulator.
fn becomes_hardware(machine: &Machine, rng: &mut SplitMix) {
    let netlist = lower_machine(machine, "machine");
    netlist.check().unwrap();
    let mut hardware = Evaluator::new(&netlist);
    let mut sim = Simulation::new(machine, LookupMiss::Zero);
    for _ in 0..6 {
        let mut codes: Vec<BigInt> = Vec::new();
        for port in machine.inputs() {
            let row = stimulus(machine, port, rng);
            sim.apply(port, &row);
            codes.extend(row);
        }
        sim.settle().unwrap();
        hardware.set_inputs(&codes);
        hardware.settle();
        let shown = machine.outputs().flat_map(|s| sim.values(s));
        for (cell, found) in shown.zip(hardware.outputs()) {
            assert!(!cell.defined || cell.code == found);
        }
        sim.clock();
        hardware.tick();
    }
}

#[test]
fn ten_thousand_mutations_of_machines_are_read_or_refused() {
    let originals = originals();
    let mut rng = SplitMix::new(7_2026);
    let (mut valid, mut refused) = (0, 0);
    for round in 0..10_000u64 {
        let pick = rng.below(originals.len() as u64);
        let bytes = mutated(&originals[pick as usize], &mut rng);
        let mut outcome = None;
        let held = most_held(|| outcome = Some(formats::read_machine(bytes.as_slice(), &Limits::default())));
        assert!(held < 8 << 20, "round {round}: {held} bytes held for a file of {}", bytes.len());
        match outcome.unwrap() {
            Err(problems) => {
                refused += 1;
                assert!(problems.has_errors(), "round {round}");
                assert!(problems.0.len() <= Limits::default().max_problems + 4, "round {round}");
                assert!(problems.0.iter().all(|d| d.code != "E0000" && !d.message.is_empty()), "round {round}");
            }
            Ok(machine) => {
                valid += 1;
                if valid % 8 == 0 {
                    becomes_hardware(&machine, &mut rng);
                }
            }
        }
    }
    assert!(valid > 200 && refused > 5000, "{valid} valid, {refused} refused: mutations of one kind only");
}

/// A design of one register with these elements, read by an index.
fn indexed(elements: usize, width: u32, mult: u64, view: usize) -> String {
    let types = vec![format!("[false,{width},0]"); elements].join(",");
    let values = vec!["0.0"; elements].join(",");
    let index = r#"["i",true,[[false,20,0]],null,null,false,null,"r",null,[0,1],null]"#;
    let mem = |mode: &str| {
        format!(r#"["m",false,[{types}],null,[{values}],true,null,"{mode}",null,[0,{view}],[{index},{mult}]]"#)
    };
    let narrow = vec![format!("[false,{width},0]"); view].join(",");
    let port = |name: &str, mode: &str| {
        format!(r#"["{name}",true,[{narrow}],null,null,false,null,"{mode}",null,[0,{view}],null]"#)
    };
    format!(
        r#"{{"meta":"ALIRFSM","spec_version":4,"fsm":{{"logic":{{}},"conns":[
        {{"src":{},"dst":{},"enable_if":null,"alt_src":null}},
        {{"src":{},"dst":{},"enable_if":null,"alt_src":null}}]}}}}"#,
        mem("r"),
        port("q", "w"),
        port("d", "r"),
        mem("w"),
    )
}

#[test]
fn indexing_grows_little_faster_than_the_file() {
    // Half of all elements through a view that any index moves: element by element that would be millions of choices.
    let machine = read(indexed(4000, 2, 1, 2000).as_bytes()).unwrap();
    let netlist = lower_machine(&machine, "machine");
    netlist.check().unwrap();
    assert!(netlist.nets().len() < 300_000, "{} nets", netlist.nets().len());
    let mut rng = SplitMix::new(1);
    for (elements, mult, view) in [(7, 3, 2), (9, 2, 4), (5, 1 << 40, 1), (6, 7, 6), (8, 1, 3), (4, 0, 2)] {
        let machine = read(indexed(elements, 3, mult, view).as_bytes()).unwrap();
        becomes_hardware(&machine, &mut rng);
    }
}
