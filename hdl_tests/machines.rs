//! Stateful designs in every simulator: the traces of the library that wrote them, and random machines.

use crate::harness::{Case, assert_equal_everywhere};
use crate::lint::assert_silent;
use crate::projects::{said, start, tool, works};
use alir_testing::random::machine::MachineRecipe;
use alir2hdl::emit;
use alir2hdl::formats;
use alir2hdl::interp::samples::{Reader, Values};
use alir2hdl::ir::Limits;
use alir2hdl::ir::machine::{Machine, SignalId};
use alir2hdl::netlist::lower_machine;
use alir2hdl::num::Kif;
use alir2hdl::passes;
use alir2hdl::verify::{MachineRun, Rows, machine_stimulus};
use num_bigint::BigInt;
use num_traits::FromPrimitive;
use std::fs::File;
use std::path::{Path, PathBuf};

pub(crate) const DESIGNS: [&str; 6] =
    ["biquad", "leaky_integrator", "mlp_pipeline", "register_file", "select_hold", "serial_matvec"];

pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models/fsm").join(name)
}

pub(crate) fn read(name: &str) -> Machine {
    let file = File::open(folder(name).join("fsm.json.gz")).expect("a design");
    formats::read_machine(file, &Limits::default()).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Raw values of ports in each cycle, one port's elements after the other's; `None` where the file says NaN.
pub(crate) fn trace(name: &str, kind: &str, machine: &Machine, ports: &[SignalId]) -> Vec<Vec<Option<BigInt>>> {
    let mut rows: Vec<Vec<Option<BigInt>>> = Vec::new();
    for &port in ports {
        let signal = machine.signal(port);
        let kifs = &signal.elements;
        let path = folder(name).join(format!("{kind}.{}.npy", signal.name));
        let mut reader = Reader::open(&path, None, kifs, false).unwrap_or_else(|e| panic!("{e}"));
        let mut block = Values::default();
        let count = reader.read(1 << 20, &mut block).unwrap_or_else(|e| panic!("{e}"));
        let Values::Reals(numbers) = block else { panic!("{} holds reals", path.display()) };
        rows.resize(count, Vec::new());
        let code = |(value, kif): (&f64, &Kif)| {
            let scaled = value * f64::from(kif.frac).exp2();
            BigInt::from_f64(scaled).inspect(|_| assert_eq!(scaled.fract(), 0.0, "a value of the port's type"))
        };
        for (row, numbers) in rows.iter_mut().zip(numbers.chunks(kifs.len())) {
            row.extend(numbers.iter().zip(kifs).map(code));
        }
    }
    rows
}

/// A machine's hardware, its blocks optimised, with a run that it must pass.
fn case(machine: &Machine, top: &str, level: u8, run: MachineRun) -> Case {
    let optimised = machine.clone().with_blocks(|model| passes::run(model, passes::pipeline(level)).0);
    let netlist = lower_machine(&optimised, top);
    netlist.check().unwrap_or_else(|found| panic!("{top}: {found:?}"));
    let cycles = run.cycles(&netlist.interface);
    Case { netlist, cycles, emit: emit::Options::default() }
}

#[test]
fn sim_traces_are_reproduced_by_every_simulator() {
    let recorded = DESIGNS.map(|name| {
        let machine = read(name);
        let (inputs, outputs): (Vec<_>, Vec<_>) = (machine.inputs().collect(), machine.outputs().collect());
        let known = |row: Vec<Option<BigInt>>| row.into_iter().map(|c| c.expect("inputs are numbers")).collect();
        let applied: Vec<Vec<BigInt>> = trace(name, "in", &machine, &inputs).into_iter().map(known).collect();
        let before = trace(name, "before", &machine, &outputs);
        let inputs = Rows::new(applied[0].len(), applied);
        // The library's NaN ends in a relu: after one, what a register held before its first load reads 0 in the trace.
        let mut defined = MachineRun::interpreted(&machine, inputs.clone()).defined().to_vec();
        for (defined, shown) in defined.iter_mut().zip(&before) {
            defined.iter_mut().zip(shown).for_each(|(d, shown)| *d &= shown.is_some());
        }
        let compared = defined.iter().flatten().filter(|d| **d).count();
        let all = before.iter().flatten().filter(|c| c.is_some()).count();
        assert!(compared > 0 && compared + 20 > all, "{name}: {compared} of {all} values are compared");
        let shown = before.into_iter().map(|row| row.into_iter().map(Option::unwrap_or_default).collect());
        let run = MachineRun::recorded(inputs, Rows::new(defined[0].len(), shown), defined);
        case(&machine, name, 1, run)
    });
    assert_silent(&recorded);
    assert_equal_everywhere(&recorded);
}

fn random_case(seed: u64, cycles: usize) -> Case {
    let machine = MachineRecipe::seeded(2 + seed as usize % 30, seed).build();
    let run = MachineRun::interpreted(&machine, machine_stimulus(&machine, cycles, seed));
    case(&machine, &format!("machine_{seed}"), (seed % 3) as u8, run)
}

#[test]
fn sim_random_machines_are_equal_in_every_simulator() {
    let cases: Vec<Case> = (0..100).map(|seed| random_case(seed, 60)).collect();
    assert_equal_everywhere(&cases);
}

#[test]
fn sim_no_tool_complains_about_random_machines() {
    let cases: Vec<Case> = (1000..1030).map(|seed| random_case(seed, 1)).collect();
    assert_silent(&cases);
}

#[test]
fn netlists_of_machines_are_proved_and_changed_ones_refuted() {
    let Some(yosys) = tool("yosys") else { return };
    let files = tempfile::tempdir().expect("a folder");
    let works = |program: &Path, arguments: &[&str]| works(program, files.path(), arguments);
    let fails = |arguments: &[&str]| {
        let output = start(env!("CARGO_BIN_EXE_alir2hdl"), files.path(), arguments);
        (output.status.code(), said(&output))
    };
    let alir2hdl = Path::new(env!("CARGO_BIN_EXE_alir2hdl"));
    // Changes of look-up tables and of power-on values.
    for (name, command, from, to) in [
        ("register_file", "synth_ecp5", "16'hca00", "16'hcb00"),
        ("leaky_integrator", "synth_ice40", "16'hfff0", "16'hff00"),
        ("select_hold", "synth_xilinx -noiopad", ".INIT(1'h0)", ".INIT(1'h1)"),
    ] {
        let model = folder(name).join("fsm.json.gz");
        let model = model.to_str().expect("UTF-8");
        works(alir2hdl, &["generate", model, "-o", "rtl.v", "--top", "top"]);
        let script = format!("read_verilog rtl.v; {command} -top top; write_verilog -noattr net.v");
        works(&yosys, &["-q", "-p", &script]);
        let printed = works(alir2hdl, &["prove", model, "net.v"]);
        assert!(printed.starts_with("proved"), "{name}: {printed}");
        let printed = works(alir2hdl, &["prove", model, "net.v", "--rtl", "rtl.v"]);
        assert!(printed.contains("compared with rtl.v, which was proved equal"), "{name}: {printed}");
        let net = std::fs::read_to_string(files.path().join("net.v")).expect("a netlist");
        assert!(net.contains(from), "{name} has {from}");
        std::fs::write(files.path().join("net.v"), net.replace(from, to)).expect("written");
        let (code, printed) = fails(&["prove", model, "net.v"]);
        assert!(code == Some(1) && printed.contains("the machine says"), "{name}: {printed}");
        let (code, printed) = fails(&["prove", model, "net.v", "--rtl", "rtl.v"]);
        assert!(code == Some(1) && printed.contains("rtl.v was not used"), "{name}: {printed}");
    }
}
