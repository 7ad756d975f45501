//! A second opinion about files: yosys reads the text and makes gates of it, ABC compares them with the model's.
//! Nothing of our readers and provers is in that, only the model's own gates.

use crate::harness::skip;
use alir2hdl::emit::Language;
use alir2hdl::ir::Model;
use alir2hdl::netlist::Interface;
use alir2hdl::prove::aig::{Aig, Gate, Lit, Pin};
use alir2hdl::prove::{aiger, equiv};
use alir2hdl::verify::via;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Clocks beyond the latency that are looked at, so that a register too many does not show power-on values only.
const MORE: usize = 2;

/// Verdict of yosys and ABC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opinion {
    Equal,
    Different,
    /// Neither within ABC's limit.
    Open,
}

/// Runs a tool in a folder; nothing if it is not there.
pub(crate) fn run(dir: &Path, tool: &str, args: &[&str]) -> Option<Output> {
    let run = Command::new(tool).args(args).current_dir(dir).stdin(Stdio::null()).output();
    run.map_err(|error| skip(tool, &error.to_string())).ok()
}

fn said(output: &Output) -> String {
    [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat()
}

/// The outputs of these names in the last of `frames` clocks from zero, over the inputs of these names in all of them.
fn unrolled(circuit: &Aig, frames: usize, inputs: &[String], outputs: &[String]) -> Aig {
    let place = |pins: &[Pin], name: &String| {
        let found = pins.iter().position(|pin| pin.name == *name || format!("{}[0]", pin.name) == *name);
        found.unwrap_or_else(|| panic!("no {name}"))
    };
    let from: Vec<usize> = inputs.iter().map(|name| place(circuit.inputs(), name)).collect();
    assert_eq!(circuit.inputs().len(), inputs.len());
    assert_eq!(circuit.outputs().len(), outputs.len());
    let mut out = Aig::new();
    let mut state = vec![Lit::FALSE; circuit.latches().len()];
    for frame in 0..frames {
        let mut given = vec![Lit::FALSE; inputs.len()];
        from.iter().for_each(|&at| given[at] = out.input(""));
        let mut lits: Vec<Lit> = Vec::with_capacity(circuit.len());
        let of = |lits: &[Lit], l: Lit| lits[l.node() as usize].xor(l.is_negated());
        for node in 0..circuit.len() as u32 {
            let lit = match circuit.gate(node) {
                Gate::False => Lit::FALSE,
                Gate::Input(n) => given[n as usize],
                Gate::Latch(n) => state[n as usize],
                Gate::And(a, b) => {
                    let (a, b) = (of(&lits, a), of(&lits, b));
                    out.and(a, b)
                }
            };
            lits.push(lit);
        }
        state = circuit.latches().iter().map(|l| of(&lits, l.next.unwrap_or(Lit::FALSE))).collect();
        if frame + 1 == frames {
            for name in outputs {
                out.output(of(&lits, circuit.outputs()[place(circuit.outputs(), name)].lit), "");
            }
        }
    }
    out
}

/// Returns `true` if yosys and ABC find the text equal to the model, with the reset idle and the pipeline enabled,
/// within so many
/// conflicts of ABC's solver. Nothing if a tool is missing.
///
/// # Panics
/// If a tool fails.
pub(crate) fn equal(
    model: &Model,
    interface: &Interface,
    language: Language,
    text: &str,
    conflicts: u32,
) -> Option<Opinion> {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, bytes: &[u8]| std::fs::write(dir.path().join(name), bytes).expect("a file in it");
    let top = &interface.top;
    match language {
        Language::Verilog | Language::SystemVerilog => write("dut.v", text.as_bytes()),
        Language::Vhdl => {
            write("dut.vhd", text.as_bytes());
            let analysed = run(dir.path(), "ghdl", &["-a", "dut.vhd"])?;
            assert!(analysed.status.success(), "{}", said(&analysed));
            let made = run(dir.path(), "ghdl", &["--synth", "--out=verilog", top])?;
            assert!(made.status.success(), "{}", said(&made));
            write("dut.v", via::completed(&String::from_utf8_lossy(&made.stdout)).as_bytes());
        }
    }
    let widths = |kifs: &mut dyn Iterator<Item = u32>| kifs.sum::<u32>();
    let inputs = widths(&mut model.input_kifs().iter().map(|k| k.width()));
    let outputs = widths(&mut (0..model.outputs().len()).map(|j| model.output_kif(j).width()));
    let mut ports = vec![".model_inp(model_inp), .model_out(model_out)".to_owned()];
    let clock = interface.clock.as_ref().map(|c| format!(".{c}(z_clk)"));
    let reset = interface.reset.as_ref().map(|r| format!(".{r}(1'b{})", u8::from(!interface.reset_active_high)));
    let enable = interface.enable.as_ref().map(|e| format!(".{e}(1'b1)"));
    let valid = interface.valid.as_ref().map(|v| format!(".{}(1'b1)", v.0));
    ports.extend([clock, reset, enable, valid].into_iter().flatten());
    let wrapper = format!(
        "module z_w(input wire [{}:0] model_inp, input wire z_clk, output wire [{}:0] model_out);\n{top} dut({});\n\
         endmodule\n",
        inputs - 1,
        outputs - 1,
        ports.join(", ")
    );
    write("w.v", wrapper.as_bytes());
    let script = "read_verilog dut.v w.v; hierarchy -check -top z_w; proc; flatten; opt; async2sync; dffunmap; \
                  memory_map; \
                  techmap; opt; setundef -zero -init; dffunmap; simplemap; aigmap; opt_clean; write_aiger -symbols \
                  file.aig";
    let made = run(dir.path(), "yosys", &["-q", "-p", script])?;
    assert!(made.status.success(), "{}\n{text}", said(&made));
    let file = aiger::read(&std::fs::read(dir.path().join("file.aig")).expect("what yosys wrote")).expect("AIGER");
    let mut ours = equiv::model_graph(model, interface.latency);
    ours.input("z_clk[0]");
    let names = |pins: &[Pin]| pins.iter().map(|pin| pin.name.clone()).collect::<Vec<_>>();
    let (ins, outs) = (names(ours.inputs()), names(ours.outputs()));
    let frames = match interface.latency {
        0 => 1,
        n => n as usize + 1 + MORE,
    };
    write("file.aig", &aiger::write(&unrolled(&file, frames, &ins, &outs), aiger::Encoding::Binary));
    write("ours.aig", &aiger::write(&unrolled(&ours, frames, &ins, &outs), aiger::Encoding::Binary));
    let question = format!("cec -C {conflicts} file.aig ours.aig");
    let output = said(&run(dir.path(), "berkeley-abc", &["-c", &question])?);
    match (output.contains("Networks are equivalent"), output.contains("NOT EQUIVALENT")) {
        (true, false) => Some(Opinion::Equal),
        (false, true) => Some(Opinion::Different),
        _ if output.contains("UNDECIDED") => Some(Opinion::Open),
        _ => panic!("unexpected output of ABC: {output}"),
    }
}
