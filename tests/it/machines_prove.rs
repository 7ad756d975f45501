//! `prove` on stateful designs: what we write is the machine, what is changed is not.

use alir_testing::random::machine::MachineRecipe;
use alir_testing::tools::tool;
use alir2hdl::emit;
use alir2hdl::formats;
use alir2hdl::ir::machine::Machine;
use alir2hdl::ir::{Limits, Model};
use alir2hdl::netlist::lower_machine;
use alir2hdl::passes;
use alir2hdl::prove::aiger;
use alir2hdl::prove::engine;
use alir2hdl::prove::machine::{MachineReport, MachineRequest, Verdict, compare_with_rtl, product, prove, testbench};
use alir2hdl::prove::sat::Embedded;
use alir2hdl::retime::{Slack, retime};
use alir2hdl::rtl::{self, Language};
use std::fs::File;
use std::path::Path;
use std::process::Command;

fn read(name: &str) -> Machine {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models/fsm").join(name).join("fsm.json.gz");
    formats::read_machine(File::open(path).unwrap(), &Limits::default()).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn written(machine: &Machine, level: u8, language: Language) -> String {
    let optimised = machine.clone().with_blocks(|model| passes::run(model, passes::pipeline(level)).0);
    let language = match language {
        Language::Verilog | Language::SystemVerilog => emit::Language::Verilog,
        Language::Vhdl => emit::Language::Vhdl,
    };
    emit::text(&lower_machine(&optimised, "machine"), language, &emit::Options::default())
}

fn prove_rtl(machine: &Machine, text: &str, language: Language) -> MachineReport {
    let rtl = rtl::read(language, text, None).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let limits = engine::Limits { sat_steps: 100_000, ..engine::Limits::default() };
    prove(machine, &rtl, &MachineRequest { limits, depth: 6, ..MachineRequest::default() }, &|| Box::new(Embedded)).0
}

/// The text with one change, which must be there to be made.
fn changed(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "no {from:?} in\n{text}");
    text.replacen(from, to, 1)
}

#[test]
fn the_shared_designs_are_proved_in_both_languages() {
    for name in ["biquad", "leaky_integrator", "register_file", "select_hold", "serial_matvec"] {
        let machine = read(name);
        let each = (0..3).flat_map(|level| [(level, Language::Verilog), (level, Language::Vhdl)]);
        for (level, language) in each {
            let report = prove_rtl(&machine, &written(&machine, level, language), language);
            assert_eq!(report.verdict, Verdict::Proved, "{name} -O{level} {language:?}");
            assert!(report.registers.iter().all(|r| r.held == r.bits), "{name}: {:?}", report.registers);
        }
    }
}

#[test]
fn a_pipeline_is_proved_wherever_its_registers_stand() {
    let machine = read("mlp_pipeline");
    let (verilog, vhdl) = (emit::Language::Verilog, emit::Language::Vhdl);
    let moves = [
        (0, None, verilog),
        (1, Some(Slack::Registers), verilog),
        (1, Some(Slack::Delay), vhdl),
        (2, Some(Slack::Registers), vhdl),
        (2, None, verilog),
    ];
    for (level, slack, language) in moves {
        let (text, moved) = cut(&machine, level, slack, language);
        assert_eq!(moved, usize::from(slack.is_some()));
        let read_as = if language == verilog { Language::Verilog } else { Language::Vhdl };
        let report = prove_rtl(&machine, &text, read_as);
        assert_eq!(report.verdict, Verdict::Proved, "-O{level} {slack:?} {language:?}");
        assert_eq!((report.registers[0].name.as_str(), report.registers[0].bits), ("model_inp_reg", 64));
        assert!(report.registers.iter().all(|r| r.piped == r.bits || r.held > 0), "{:?}", report.registers);
        assert!(report.register_bits <= report.register_bits_in_machine);
    }
}

#[test]
fn a_register_too_many_on_one_path_of_a_pipeline_is_refuted() {
    let machine = read("mlp_pipeline");
    let (text, _) = cut(&machine, 1, Some(Slack::Registers), emit::Language::Verilog);
    let lines: Vec<&str> = text.lines().collect();
    let loads: Vec<usize> =
        (0..lines.len()).filter(|&i| lines[i].contains("pipe0_r") && lines[i].contains("<=")).collect();
    assert!(loads.len() > 20);
    for &at in loads.iter().step_by(loads.len() / 3) {
        // The register's value one clock late: one of two converging paths has a register more.
        let (register, value) = lines[at].trim().trim_end_matches(';').split_once(" <= ").unwrap();
        let declares = |l: &str| l.trim().starts_with("reg") && l.contains(&format!(" {register};"));
        let declared = lines.iter().position(|l| declares(l)).unwrap();
        let late = lines[declared].replace(register, "late");
        let text = changed(&text, lines[declared], &format!("{}\n{late}", lines[declared]));
        let text = changed(&text, lines[at], &format!("late <= {value}; {register} <= late;"));
        let report = prove_rtl(&machine, &text, Language::Verilog);
        let Verdict::Differs { counterexample: Some(c), .. } = &report.verdict else { panic!("{:?}", report.verdict) };
        assert_ne!(c.expected, c.found);
    }
}

#[test]
fn a_rare_difference_in_a_pipeline_is_found() {
    let machine = read("mlp_pipeline");
    let (text, _) = cut(&machine, 1, Some(Slack::Registers), emit::Language::Verilog);
    // One of 2^24 inputs, and one of 2^24 that come while another result leaves.
    let rare = "&{model_inp_1, model_inp_2, model_inp_3}";
    for (from, width) in [("model_inp_reg_0 <= model_inp_0", 8), ("model_out_0 <= INTERNAL_logic3_outp_0", 7)] {
        let text = changed(&text, from, &format!("{from} ^ {{{}'d0, {rare}}}", width - 1));
        let report = prove_rtl(&machine, &text, Language::Verilog);
        let Verdict::Differs { counterexample: Some(c), .. } = &report.verdict else { panic!("{:?}", report.verdict) };
        assert_ne!(c.expected, c.found);
    }
}

/// The text of a machine whose pipelines were cut again, and how many of them were.
fn moved(machine: &Machine, level: u8, slack: Slack) -> (String, usize) {
    cut(machine, level, Some(slack), emit::Language::Verilog)
}

/// RTL of a machine in either language, or as the file has it.
fn cut(machine: &Machine, level: u8, slack: Option<Slack>, language: emit::Language) -> (String, usize) {
    let optimise = |model: &Model| passes::run(model, passes::pipeline(level)).0;
    let optimised = machine.clone().with_blocks(optimise);
    let (machine, moved) = match slack {
        Some(slack) => {
            let retimed = retime(&optimised, slack, &optimise);
            let moved = retimed.pipelines.iter().filter(|p| p.moved).count();
            (retimed.machine, moved)
        }
        None => (optimised, 0),
    };
    (emit::text(&lower_machine(&machine, "machine"), language, &emit::Options::default()), moved)
}

#[test]
fn random_machines_whose_registers_moved_are_proved() {
    let (mut proved, mut open) = (0, 0);
    for seed in 0..60 {
        let machine = MachineRecipe::seeded(4 + seed as usize % 12, seed).build();
        let (text, moved) = moved(&machine, 1, if seed % 2 == 0 { Slack::Registers } else { Slack::Delay });
        if moved == 0 {
            continue;
        }
        let report = prove_rtl(&machine, &text, Language::Verilog);
        match report.verdict {
            Verdict::Proved => proved += 1,
            Verdict::Unknown { reason } => {
                eprintln!("seed {seed}: {reason}");
                open += 1;
            }
            Verdict::Differs { reason, .. } => panic!("seed {seed}: {reason}\n{text}"),
        }
    }
    eprintln!("{proved} proved, {open} open");
    assert!(proved >= 27 && open == 0, "{proved} proved, {open} open");
}

#[test]
fn machines_with_undefined_registers_are_proved() {
    let seeds = [79, 81, 151, 219, 255, 261, 266, 313, 314, 354];
    for seed in seeds {
        let machine = MachineRecipe::seeded(2 + seed as usize % 16, seed).build();
        let (text, _) = moved(&machine, (seed % 3) as u8, Slack::Registers);
        let report = prove_rtl(&machine, &text, Language::Verilog);
        assert_eq!(report.verdict, Verdict::Proved, "seed {seed}\n{text}");
    }
}

#[test]
fn names_decide_nothing() {
    let machine = read("serial_matvec");
    let mut text = written(&machine, 1, Language::Verilog);
    // Registers called like other registers, and operations like other operations.
    for (from, to) in [("acc_0", "tmp"), ("acc_1", "acc_0"), ("y_2", "acc_1"), ("tmp", "y_2")] {
        text = text.replace(from, to);
    }
    text = text.replace("mac_v3", "mac_v9_x").replace("is_last", "k_reg");
    let report = prove_rtl(&machine, &text, Language::Verilog);
    assert_eq!((report.verdict, report.notes.len()), (Verdict::Proved, 0), "{text}");
    // A port with another name is found by its place, and that is said.
    let report = prove_rtl(
        &machine,
        &changed(&text, "[38:0] y\n", "[38:0] z\n").replace("assign y[", "assign z["),
        Language::Verilog,
    );
    assert_eq!(report.verdict, Verdict::Proved);
    assert_eq!(report.notes, ["z is taken for port \"y\", by its place among the ports"]);
}

/// Changes of RTL at -O1: next-state function, reset value, power-on value, enable, reset condition, an output.
const CHANGES: [(&str, &str, &str); 11] = [
    ("serial_matvec", "k[1] ? x_2 : x_0", "k[1] ? x_0 : x_2"),
    ("serial_matvec", "cnt_v0 + 2'b01", "cnt_v0 - 2'b01"),
    ("serial_matvec", "k <= 2'd0", "k <= 2'd1"),
    ("serial_matvec", "k = 2'd0", "k = 2'd2"),
    ("serial_matvec", "if (is_last) begin\n            y_0", "if (!is_last) begin\n            y_0"),
    ("serial_matvec", "if (rst_in)", "if (rst_in & k[0])"),
    ("serial_matvec", "y[12:0] = y_0", "y[12:0] = y_1"),
    ("leaky_integrator", "acc <= 17'h00018", "acc <= 17'h00019"),
    ("register_file", "mem_7 = 8'b00001110", "mem_7 = 8'b00001111"),
    ("register_file", "&{mem_0_a[2], wa_in[1:0]}", "&{mem_0_a[2], wa_in[1]}"),
    ("select_hold", "initial begin\n", "initial if (0) begin\n"),
];

#[test]
fn changes_are_refuted_with_inputs_that_show_them() {
    for (name, from, to) in CHANGES {
        let machine = read(name);
        let text = changed(&written(&machine, 1, Language::Verilog), from, to);
        let report = prove_rtl(&machine, &text, Language::Verilog);
        let Verdict::Differs { counterexample: Some(c), .. } = &report.verdict else {
            panic!("{name}, {to}: {:?}", report.verdict)
        };
        assert_eq!(c.inputs.len(), c.cycle + 1);
        assert_ne!(c.expected, c.found);
    }
}

#[test]
fn a_rare_difference_is_found() {
    // Only one of 2^24 inputs after a reset tells, in the cycle after.
    let machine = read("serial_matvec");
    let text = changed(
        &written(&machine, 1, Language::Verilog),
        "wire is_last = last_v2;",
        "wire is_last = last_v2 ^ (x == 20'd123456);",
    );
    let report = prove_rtl(&machine, &text, Language::Verilog);
    let Verdict::Differs { counterexample: Some(c), .. } = &report.verdict else { panic!("{:?}", report.verdict) };
    assert!(c.cycle <= 6);
}

#[test]
fn the_testbench_shows_the_difference() {
    let machine = read("serial_matvec");
    for (language, simulator, simulate) in [
        (Language::Verilog, "iverilog", "iverilog -o sim dut.v tb.v && vvp -n sim"),
        (Language::Vhdl, "ghdl", "ghdl -a dut.vhd && ghdl -a tb.vhd && ghdl -e tb && ghdl -r tb"),
    ] {
        if tool(simulator).is_none() {
            continue;
        }
        let (from, to) = match language {
            Language::Verilog | Language::SystemVerilog => ("cnt_v0 + 2'b01", "cnt_v0 - 2'b01"),
            Language::Vhdl => ("cnt_v0 + ", "cnt_v0 - "),
        };
        let good = written(&machine, 1, language);
        let bad = changed(&good, from, to);
        let rtl = rtl::read(language, &bad, None).unwrap();
        let report = prove_rtl(&machine, &bad, language);
        let Verdict::Differs { counterexample: Some(c), .. } = report.verdict else { panic!("{:?}", report.verdict) };
        let bench = testbench(language, &machine, &rtl, &c).unwrap();
        for (text, expected) in [(&bad, "MISMATCH"), (&good, "MATCH")] {
            let dir = tempfile::tempdir().unwrap();
            let extension = if language == Language::Verilog { "v" } else { "vhd" };
            std::fs::write(dir.path().join(format!("dut.{extension}")), text).unwrap();
            std::fs::write(dir.path().join(format!("tb.{extension}")), &bench).unwrap();
            let output = Command::new("sh").args(["-c", simulate]).current_dir(dir.path()).output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
            let words: Vec<&str> = said.split(|c: char| !c.is_ascii_alphabetic()).collect();
            assert!(words.contains(&expected), "{said}\n{bench}");
            assert_eq!(output.status.success(), expected == "MATCH", "{said}\n{bench}");
        }
    }
}

#[test]
fn other_ports_and_other_clocks_are_told() {
    let machine = read("serial_matvec");
    let good = written(&machine, 1, Language::Verilog);
    let reason = |text: &str| match prove_rtl(&machine, text, Language::Verilog).verdict {
        Verdict::Differs { reason, counterexample: None } => reason,
        other => panic!("{other:?}"),
    };
    let text = reason(&good.replace("posedge", "negedge"));
    assert!(text.contains("falling edge"), "{text}");
    let text = reason(&written(&read("biquad"), 1, Language::Verilog));
    assert!(text.contains("ports differ"), "{text}");
}

#[test]
fn what_was_not_decided_within_the_work_is_named() {
    let machine = read("serial_matvec");
    let rtl = rtl::read(Language::Verilog, &written(&machine, 2, Language::Verilog), None).unwrap();
    let request = MachineRequest { work: 1_000, ..MachineRequest::default() };
    let report = prove(&machine, &rtl, &request, &|| Box::new(Embedded)).0;
    let Verdict::Unknown { reason } = &report.verdict else { panic!("{:?}", report.verdict) };
    assert!(reason.contains("(--prove-effort)") && reason.contains("[0]"), "{reason}");
}

#[test]
fn random_machines_are_proved() {
    let (mut proved, mut open) = (0, Vec::new());
    for seed in 0..40 {
        let machine = MachineRecipe::seeded(2 + seed as usize % 20, seed).build();
        let language = if seed % 2 == 0 { Language::Verilog } else { Language::Vhdl };
        let text = written(&machine, (seed % 3) as u8, language);
        match prove_rtl(&machine, &text, language).verdict {
            Verdict::Proved => proved += 1,
            Verdict::Unknown { reason } => open.push((seed, reason)),
            other => panic!("seed {seed}: {other:?}\n{text}"),
        }
    }
    eprintln!("{proved} proved, open: {open:?}");
    assert!(proved >= 37, "{open:#?}");
}

#[test]
fn another_prover_agrees_about_the_product() {
    let Some(abc) = tool("berkeley-abc") else { return };
    let good = read("leaky_integrator");
    let text = written(&good, 1, Language::Verilog);
    for (text, expected) in [
        (text.clone(), "Property proved"),
        (changed(&text, "acc = 17'h00018", "acc = 17'h00019"), "was asserted in frame 0"),
    ] {
        let rtl = rtl::read(Language::Verilog, &text, None).unwrap();
        let graph = product(&good, &rtl, Box::new(Embedded)).unwrap();
        assert_eq!(graph.outputs().len(), 1);
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("product.aig");
        std::fs::write(&file, aiger::write(&graph, aiger::Encoding::Binary)).unwrap();
        let script = format!("read_aiger {}; pdr", file.display());
        let output = Command::new(&abc).args(["-q", &script]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains(expected), "{said}");
    }
}

/// Returns `true` if a design is proved to behave as RTL by comparison with it.
fn is_like(machine: &Machine, design: &str, rtl: &str) -> bool {
    let [design, rtl] = [design, rtl].map(|text| rtl::read(Language::Verilog, text, None).unwrap());
    compare_with_rtl(machine, &design, &rtl, &MachineRequest::default()).is_ok()
}

#[test]
fn designs_are_proved_by_comparison_with_rtl_and_changed_ones_are_not() {
    for (name, from, to) in CHANGES {
        let machine = read(name);
        let [none, one, two] = [0, 1, 2].map(|level| written(&machine, level, Language::Verilog));
        assert!(is_like(&machine, &two, &one) && is_like(&machine, &one, &none), "{name}");
        assert!(!is_like(&machine, &changed(&one, from, to), &one), "{name}: {to}");
        assert!(!is_like(&machine, &changed(&one, from, to), &two), "{name}: {to}");
    }
    let proved = (0..40).filter(|&seed| {
        let machine = MachineRecipe::seeded(2 + seed as usize % 20, seed).build();
        let [one, other] = [1, seed as u8 % 2 * 2].map(|level| written(&machine, level, Language::Verilog));
        is_like(&machine, &other, &one)
    });
    let proved = proved.count();
    assert!(proved >= 38, "{proved} of 40");
}

/// RTL was proved for every value of registers without a power-on value, so a design may have one value of its own for
/// each of them, but not two.
#[test]
fn registers_without_a_power_on_value_start_like_those_of_the_rtl() {
    let machine = read("leaky_integrator");
    let defined = written(&machine, 1, Language::Verilog);
    let start = "    initial begin\n        acc = 17'h00018;\n    end\n";
    let free = changed(&defined, start, "");
    let twice = |text: &str, start: &str| {
        let text =
            changed(text, "reg [16:0] acc;", &format!("reg [16:0] p{start}, q{start};\nwire [16:0] acc = p & q;"));
        let text = changed(&text, "acc <= 17'h00018;", "p <= 17'h00018; q <= 17'h00018;");
        changed(&text, "acc <= leak_v3;", "p <= leak_v3; q <= leak_v3;")
    };
    let cases = [
        (&defined, &free, true),
        (&free, &free, true),
        (&free, &defined, false),
        (&twice(&free, " = 17'd0"), &free, true),
        (&twice(&free, " = 17'd24"), &defined, true),
        (&twice(&free, " = 17'd25"), &defined, false),
        (&twice(&free, ""), &free, false),
    ];
    for (i, (design, rtl, expected)) in cases.into_iter().enumerate() {
        assert_eq!(is_like(&machine, design, rtl), expected, "case {i}\n{design}");
    }
}
