//! Certificates of state machines: what `prove --certificate` records of them and `alir2hdl-check` replays.

use crate::certificate_files::{answer, changed, corrupted, read, run};
use alir_testing::random::machine::{MachineRecipe, stimulus};
use alir_testing::{first_or_all, is_nightly};
use alir2hdl::emit;
use alir2hdl::formats;
use alir2hdl::interp::LookupMiss;
use alir2hdl::interp::machine::Simulation;
use alir2hdl::ir::machine::Machine;
use alir2hdl::ir::{Limits, Model};
use alir2hdl::netlist::lower_machine;
use alir2hdl::num::SplitMix;
use alir2hdl::passes;
use alir2hdl::prove::certify;
use alir2hdl::prove::engine;
use alir2hdl::prove::machine::{
    Correspondence, MachineReport, MachineRequest, RegisterBit, Verdict, beside, prove, record,
};
use alir2hdl::prove::sat::Embedded;
use alir2hdl::retime::{Slack, retime};
use alir2hdl::rtl::{self, Language};
use alir2hdl_check::graph::Lit;
use alir2hdl_check::induction::Induction;
use alir2hdl_check::machine::Machine as Read;
use alir2hdl_check::text::Text;
use alir2hdl_check::{Answer, Compared, Side, check};
use num_bigint::BigInt;
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::TempDir;

const DESIGNS: [&str; 6] =
    ["biquad", "leaky_integrator", "mlp_pipeline", "register_file", "select_hold", "serial_matvec"];

fn path(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models/fsm").join(name).join("fsm.json.gz");
    path.display().to_string()
}

/// The RTL of a design with its certificate, in a folder.
fn certified(name: &str, options: &str, text: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let path = path(name);
    let language = if text.ends_with(".v") { "--verilog" } else { "--vhdl" };
    let mut args = vec![path.as_str(), language, text];
    args.extend(options.split_whitespace());
    for args in [&args[..], &["prove", &path, text, "--certificate", "proof"]] {
        let (code, said) = run(env!("CARGO_BIN_EXE_alir2hdl"), &dir, args);
        assert_eq!(code, 0, "{name} {options}: {said}");
    }
    dir
}

#[test]
fn certificates_of_state_machines_are_replayed() {
    // Proofs of the network are the longest.
    let is_usual = |name: &&str| is_nightly() || *name != "mlp_pipeline";
    let usual =
        DESIGNS.into_iter().filter(is_usual).flat_map(|name| ["-O0", "-O1", "-O2"].map(|options| (name, options)));
    let moved = ["-O1 --retime delay", "-O2 --retime no", "-O0 --retime registers"];
    let moved = first_or_all(&moved, 1).iter().map(|options| ("mlp_pipeline", *options));
    for (name, options) in usual.chain(moved) {
        for text in ["m.v", "m.vhd"] {
            // The larger one in one language for each of its options.
            if name == "mlp_pipeline" && (text == "m.v") != options.contains("-O1") {
                continue;
            }
            let dir = certified(name, options, text);
            let (code, said) = run(env!("CARGO_BIN_EXE_alir2hdl-check"), &dir, &[&path(name), text, "proof"]);
            let statement = "every output at every clock since power-on where it is defined, for every input";
            assert_eq!((code, said), (0, format!("holds: {statement}\n")), "{name} {options} {text}");
            let report = read(&dir, "proof/report.json");
            assert!(report.contains("can check the proof of every output"), "{report}");
        }
    }
}

#[test]
fn a_difference_of_a_state_machine_is_replayed() {
    let dir = certified("serial_matvec", "-O1", "m.v");
    let text = read(&dir, "m.v");
    // Some clocks after power-on.
    let wrong = text.replacen("acc_1 <= 13'd0", "acc_1 <= 13'd1", 1);
    assert_ne!(text, wrong);
    std::fs::write(dir.path().join("wrong.v"), &wrong).unwrap();
    let path = path("serial_matvec");
    let prove = ["prove", &path, "wrong.v", "--certificate", "other"];
    let (code, said) = run(env!("CARGO_BIN_EXE_alir2hdl"), &dir, &prove);
    assert_eq!(code, 1, "{said}");
    let (code, said) = run(env!("CARGO_BIN_EXE_alir2hdl-check"), &dir, &[&path, "wrong.v", "other"]);
    assert!(code == 1 && said.starts_with("refuted: comparison "), "{code}: {said}");
    // The right text shows none.
    let (code, said) = run(env!("CARGO_BIN_EXE_alir2hdl-check"), &dir, &[&path, "m.v", "other"]);
    assert_eq!(code, 5, "{said}");
}

#[test]
fn a_mistake_in_a_state_machine_is_seen() {
    for (name, options, file, mistakes) in [
        (
            "serial_matvec",
            "-O1",
            "m.v",
            &[
                ("k[1] ? x_2 : x_0", "k[1] ? x_0 : x_2"),
                ("cnt_v0 + 2'b01", "cnt_v0 - 2'b01"),
                ("k <= 2'd0", "k <= 2'd1"),
                ("k = 2'd0", "k = 2'd2"),
                ("acc_1 = 13'd0;", ""),
                ("if (is_last) begin\n            y_0", "if (!is_last) begin\n            y_0"),
                ("if (rst_in)", "if (!rst_in)"),
                ("if (rst_in)", "if (is_last)"),
                ("y[12:0] = y_0", "y[12:0] = y_1"),
                ("acc_0 <= 13'd0", "acc_0 <= 13'd4"),
            ][..],
        ),
        (
            "leaky_integrator",
            "-O2",
            "m.vhd",
            &[
                ("if rst_in(0) = '1'", "if rst_in(0) = '0'"),
                ("if rst_in(0) = '1'", "if ce_in(0) = '1'"),
                ("ce_in <= unsigned(ce)", "ce_in <= unsigned(rst)"),
                (":= \"00000000000011000\"", ":= \"00000000000011001\""),
                (" + ", " - "),
            ],
        ),
        (
            "register_file",
            "-O1",
            "m.v",
            &[
                ("mem_7 = 8'b00001110", "mem_7 = 8'b00001111"),
                ("&{mem_0_a[2], wa_in[1:0]}", "&{mem_0_a[1], wa_in[1:0]}"),
                ("mem_3 <= din_in", "mem_3 <= mem_3"),
                ("q = q_net_g", "q = q_reg_r"),
                ("q_reg_r <= q_net_g", "q_reg_r <= q_reg_r"),
            ],
        ),
        (
            "mlp_pipeline",
            "-O1",
            "m.v",
            &[
                ("model_inp_reg_3 <= model_inp_3", "model_inp_reg_3 <= model_inp_2"),
                ("model_inp_reg_0 <= model_inp_0", "model_inp_reg_0 <= ~model_inp_0"),
            ],
        ),
    ] {
        let dir = certified(name, options, file);
        let (text, proof) = (read(&dir, file), read(&dir, "proof/proof.txt"));
        assert!(matches!(answer(&dir, &path(name), &text, &proof), Ok(Answer::Holds(_))), "{name}");
        for (right, mistake) in mistakes {
            assert!(text.contains(right), "{name}: {right:?} stands nowhere");
            let said = answer(&dir, &path(name), &text.replacen(right, mistake, 1), &proof);
            assert!(!matches!(said, Ok(Answer::Holds(_))), "{name}: {mistake:?} for {right:?}");
        }
    }
}

#[test]
fn an_induction_that_is_none_is_refused() {
    let name = "serial_matvec";
    let dir = certified(name, "-O0", "m.v");
    let (text, proof) = (read(&dir, "m.v"), read(&dir, "proof/proof.txt"));
    let with = |from: &str, to: &str| {
        assert!(proof.contains(from), "{from:?} stands nowhere in {proof}");
        answer(&dir, &path(name), &text, &proof.replacen(from, to, 1))
    };
    let first = proof.lines().find(|line| line.starts_with("same ")).unwrap();
    let last = proof.lines().rfind(|line| line.starts_with("same ")).unwrap();
    let bits: Vec<&str> = first.split(' ').collect();
    for (from, to, why) in [
        ("clocks 0 0\n", "", "register bits without an induction"),
        ("clocks 0 0\n", "clocks 0 0\nclocks 0 0\n", "two inductions"),
        ("clocks 0 0\n", "clocks 0 4096\n", "more clocks"),
        ("clocks 0 0\n", "clocks 18446744073709551615 1\n", "more clocks"),
        ("clocks 0 0\n", "clocks 0\n", "two numbers of clock cycles"),
        ("clocks 0 0\n", "every 2 3\nclocks 0 0\n", "an induction of samples"),
        (first, &format!("{first} 99999999"), "does not exist"),
        (first, &format!("same {}", bits[1]), "a class of one bit"),
        (first, &format!("{first} {}", last.rsplit(' ').next().unwrap()), "two classes"),
        (first, &first.replacen(bits[2], &(bits[2].parse::<usize>().unwrap() ^ 1).to_string(), 1), "at power-on"),
        ("step text\n", "step text\nfeeds 1\n", "inputs in a wrong place"),
        ("step text\n", "step p.json\nat 0\nall 0 0\nstep text\n", "No such file"),
    ] {
        let said = with(from, to);
        assert!(matches!(&said, Err(what) if what.contains(why)), "{to:?}: {said:?}");
    }
    // A register that is left out is one of which nothing is known.
    let said = with(&format!("{first}\n"), "");
    assert!(matches!(said, Ok(Answer::NotShown(..)) | Err(_)), "{said:?}");
    // A program's certificate is none of a machine.
    let said = answer(&dir, &path(name), &text, "alir2hdl-certificate 6\nstep text\n");
    assert!(matches!(&said, Err(what) if what.contains("a state machine without one")), "{said:?}");
}

/// Two registers with unknown inputs on both sides are not equal.
#[test]
fn what_nothing_is_known_of_is_not_the_same() {
    let name = "select_hold";
    let dir = certified(name, "-O1", "m.v");
    let (text, proof) = (read(&dir, "m.v"), read(&dir, "proof/proof.txt"));
    let registers = "    reg c;\n    reg d;\n    reg p;\n    reg q;\n    initial begin\n        c = 1'b0;\n        d \
                     = 1'b0;\n        \
                     p = 1'b0;\n        q = 1'b0;\n    end\n    always @(posedge clk) begin\n        c <= \
                     a_in[0];\n        \
                     d <= a_in[1];\n        p <= c;\n        q <= d;\n    end\n\n    // Outputs\n";
    let wrong = text.replacen("    // Outputs\n", registers, 1);
    let wrong = wrong.replacen("assign z = h;", "assign z = h ^ {8'd0, p ^ q};", 1);
    // Nine bits of the machine, nine of the RTL, and c and d come first.
    let claimed = proof.replacen("step text", "same 40 42\nstep text", 1);
    let said = answer(&dir, &path(name), &wrong, &claimed);
    assert!(matches!(said, Ok(Answer::Refuted(..))), "{said:?}\n{wrong}\n{claimed}");
}

/// A random machine as its file says it.
fn drawn(seed: u64) -> Option<(Machine, Vec<u8>)> {
    let json = formats::machine_json(&MachineRecipe::seeded(2 + seed as usize % 16, seed).build()).ok()?;
    Some((formats::read_machine(&json[..], &Limits::default()).unwrap(), json))
}

/// The RTL of a machine, and the intermediate machines.
fn written(machine: &Machine, seed: u64) -> (String, Language, Vec<Machine>) {
    let names = passes::pipeline((seed % 3) as u8);
    let slack = [None, Some(Slack::Registers), Some(Slack::Delay)][seed as usize / 3 % 3];
    let mut machines = Vec::new();
    for count in 0..=names.len() {
        let optimise = |model: &Model| passes::run(model, &names[..count]).0;
        let blocks = machine.clone().with_blocks(optimise);
        machines.push(slack.map_or(blocks.clone(), |slack| retime(&blocks, slack, &optimise).machine));
    }
    let (made, language) = match seed / 9 % 2 {
        0 => (emit::Language::Verilog, Language::Verilog),
        _ => (emit::Language::Vhdl, Language::Vhdl),
    };
    let netlist = lower_machine(machines.last().unwrap(), "machine");
    (emit::text(&netlist, made, &emit::Options::default()), language, machines)
}

fn prove_rtl(machine: &Machine, text: &str, language: Language) -> Option<MachineReport> {
    let rtl = rtl::read(language, text, None).ok()?;
    let limits = engine::Limits { sat_steps: 100_000, ..engine::Limits::default() };
    let request = MachineRequest { limits, depth: 6, ..MachineRequest::default() };
    Some(prove(machine, &rtl, &request, &|| Box::new(Embedded)).0)
}

/// Returns the checker's answer for RTL with a certificate that is recorded for it.
fn replayed(json: &[u8], text: &str, machines: &[Machine], found: &Correspondence) -> Result<(Answer, String), String> {
    let (read, source) = (Read::read(json)?, Text::read(text)?);
    let (beside, packed): (Vec<_>, Vec<_>) = beside(&read, machines, found).into_iter().unzip();
    let recorded = record(&read, &beside, &source, found)?;
    let proof = certify::text(&recorded.certificate);
    let program = |name: &str| {
        let at = beside.iter().position(|beside| beside.0 == name).ok_or("no such program")?;
        Ok(packed[at].clone())
    };
    let said = check(json, text, &proof, &program)?;
    let all = recorded.shown.iter().all(|&shown| shown);
    assert_eq!(all, matches!(said, Answer::Holds(_)), "what is recorded is what is replayed: {said:?}");
    Ok((said, proof))
}

#[test]
fn certificates_of_random_machines_are_replayed() {
    let mut answers: BTreeMap<String, u32> = BTreeMap::new();
    for seed in 0..90 {
        let Some((machine, json)) = drawn(seed) else { continue };
        let (text, language, machines) = written(&machine, seed);
        let report = prove_rtl(&machine, &text, language).unwrap();
        if report.verdict != Verdict::Proved {
            continue;
        }
        let said = match &report.correspondence {
            None => "no correspondence".to_owned(),
            Some(found) => match replayed(&json, &text, &machines, found) {
                Ok((Answer::Holds(_), _)) => "holds".to_owned(),
                Ok((Answer::NotShown(..), _)) => "not shown".to_owned(),
                Ok((said @ Answer::Refuted(..), _)) => panic!("seed {seed}: {said:?}\n{text}"),
                Err(why) => why,
            },
        };
        if said != "holds" {
            eprintln!("seed {seed}: {said}");
        }
        *answers.entry(said).or_default() += 1;
    }
    eprintln!("{answers:?}");
    let all: u32 = answers.values().sum();
    assert!(answers["holds"] * 10 >= all * 9, "{answers:?}");
}

/// Returns `true` if RTL and machine agree in some random runs, in the checker's reading of both.
fn seems_equal(json: &[u8], text: &str) -> bool {
    let (read, source) = (Read::read(json).unwrap(), Text::read(text).unwrap());
    let first = Induction { settled: 24, ..Induction::default() };
    let mut compared = Compared::new_machine(&read, &source, (&first, false), &mut |_, _, _| Ok(())).unwrap();
    compared.follow(&Side::Text(&source, None), &mut |_, _, _| Ok(())).unwrap();
    compared.difference(&[]).is_none()
}

#[test]
fn changed_texts_that_are_proved_seem_equal() {
    let (mut proved, mut refuted) = (0, 0);
    // Machines with registers that become defined at different times, or never.
    for seed in [151, 214, 219, 238, 255, 261, 266, 272, 313, 354] {
        let (machine, json) = drawn(seed).unwrap();
        let netlist = lower_machine(&machine, "machine");
        let text = emit::text(&netlist, emit::Language::Verilog, &emit::Options::default());
        for (from, to) in [("1'b0", "1'b1"), ("1'b1", "1'b0"), ("'d0", "'d1")] {
            for (at, _) in text.match_indices(from) {
                let other = format!("{}{to}{}", &text[..at], &text[at + from.len()..]);
                match prove_rtl(&machine, &other, Language::Verilog).unwrap().verdict {
                    Verdict::Proved => {
                        assert!(seems_equal(&json, &other), "seed {seed}\n{other}");
                        proved += 1;
                    }
                    Verdict::Differs { .. } => refuted += 1,
                    Verdict::Unknown { .. } => {}
                }
            }
        }
    }
    assert!(proved >= 10 && refuted >= 20, "{proved} proved, {refuted} refuted");
}

/// Whatever is recorded for RTL that differs, it is not called right.
#[test]
fn no_certificate_makes_a_wrong_text_right() {
    let mut answers: BTreeMap<&str, u32> = BTreeMap::new();
    let machines = if is_nightly() { 150 } else { 130 };
    for seed in 0..machines {
        let Some((machine, json)) = drawn(seed) else { continue };
        let (text, language, machines) = written(&machine, seed);
        let report = prove_rtl(&machine, &text, language).unwrap();
        let Some(found) = report.correspondence else { continue };
        let Ok((Answer::Holds(_), proof)) = replayed(&json, &text, &machines, &found) else { continue };
        let mut rng = SplitMix::new(seed);
        for _ in 0..3 {
            let Some(wrong) = changed(&text, &mut rng).filter(|wrong| Text::read(wrong).is_ok()) else { continue };
            // The induction of the right text, longer ones, and one that says more than is true.
            let longer = |settled, depth| Correspondence {
                settled: found.settled + settled,
                depth: found.depth + depth,
                ..found.clone()
            };
            let mut more = found.clone();
            let all: Vec<(RegisterBit, bool)> = more.classes.concat();
            if !all.is_empty() {
                let bit = all[rng.below(all.len() as u64) as usize].clone();
                more.constant.push(bit.clone());
                more.classes.iter_mut().for_each(|class| class.retain(|other| other.0 != bit.0));
            }
            let program = |_: &str| Err("no program".to_owned());
            let own = check(&json, &wrong, &proof, &program);
            let attacks = [found.clone(), longer(0, 1), longer(2, 0), longer(1, 2), more];
            let answered = attacks.iter().map(|found| replayed(&json, &wrong, &machines, found).map(|said| said.0));
            for said in [own].into_iter().chain(answered) {
                let word = match said {
                    Ok(Answer::Holds(_)) => {
                        let verdict = prove_rtl(&machine, &wrong, language).map(|report| report.verdict);
                        let is_right = verdict == Some(Verdict::Proved) || seems_equal(&json, &wrong);
                        assert!(is_right, "seed {seed}: {verdict:?}\n{wrong}");
                        assert!(!matches!(verdict, Some(Verdict::Differs { .. })), "seed {seed}: {verdict:?}\n{wrong}");
                        "holds"
                    }
                    Ok(Answer::Refuted(..)) => {
                        let verdict = prove_rtl(&machine, &wrong, language).map(|report| report.verdict);
                        assert_ne!(verdict, Some(Verdict::Proved), "seed {seed}\n{wrong}");
                        "refuted"
                    }
                    Ok(Answer::NotShown(..)) => "not shown",
                    Err(_) => "refused",
                };
                *answers.entry(word).or_default() += 1;
            }
        }
    }
    eprintln!("{answers:?}");
    assert!(answers["refuted"] > 50, "{answers:?}");
}

/// Certificates with lines changed: none makes a right text wrong, or a wrong one right.
fn attacked(designs: &[(&str, &str, &str)], seeds: std::ops::Range<u64>) -> (u32, BTreeMap<&'static str, u32>) {
    let (mut count, mut answers) = (0, BTreeMap::new());
    for (name, options, file) in designs {
        let dir = certified(name, options, file);
        let (text, proof) = (read(&dir, file), read(&dir, "proof/proof.txt"));
        for seed in seeds.clone() {
            let mut rng = SplitMix::new(seed);
            let (other, _) = corrupted(&proof, &mut rng);
            if other == proof {
                continue;
            }
            count += 1;
            let said = match answer(&dir, &path(name), &text, &other) {
                Ok(Answer::Holds(_)) => "holds",
                Ok(Answer::NotShown(..)) => "not shown",
                Err(_) => "refused",
                Ok(said @ Answer::Refuted(..)) => panic!("{name} {seed}: {said:?}"),
            };
            *answers.entry(said).or_default() += 1;
            let Some(wrong) = changed(&text, &mut rng) else { continue };
            for proof in [&proof, &other] {
                if let Ok(Answer::Holds(_)) = answer(&dir, &path(name), &wrong, proof) {
                    std::fs::write(dir.path().join(format!("wrong_{file}")), &wrong).unwrap();
                    let prove = ["prove", &path(name), &format!("wrong_{file}")];
                    let (code, said) = run(env!("CARGO_BIN_EXE_alir2hdl"), &dir, &prove);
                    assert_eq!(code, 0, "{name} {seed}: {said}");
                }
            }
        }
    }
    (count, answers)
}

const ATTACKED: [(&str, &str, &str); 5] = [
    ("serial_matvec", "-O0", "m.v"),
    ("leaky_integrator", "-O2", "m.vhd"),
    ("register_file", "-O1", "m.v"),
    ("select_hold", "-O1", "m.vhd"),
    ("mlp_pipeline", "-O0", "m.v"),
];

#[test]
fn corrupted_certificates_of_state_machines_are_refused() {
    let (count, answers) = attacked(&ATTACKED, 0..60);
    eprintln!("{count}: {answers:?}");
    assert!(answers["refused"] * 4 > count, "{answers:?}");
}

#[test]
#[ignore = "long: corrupted certificates of state machines, thousands of them"]
fn thousands_of_corrupted_certificates_of_state_machines_are_refused() {
    let (count, answers) = attacked(&ATTACKED, 1_000..1_600);
    let (large, of_large) = attacked(&[("mlp_pipeline", "-O1", "m.v"), ("serial_matvec", "-O2", "m.vhd")], 0..200);
    eprintln!("{count}: {answers:?}, {large}: {of_large:?}");
    assert!(count + large > 2_500, "{count} {large}");
}

/// The checker's gates of a machine and of its text, against the golden simulator, wherever that is defined.
#[test]
fn the_checkers_machines_agree_with_the_golden_simulator() {
    const CLOCKS: usize = 10;
    let mut compared_values = 0;
    for seed in 0..120 {
        let Some((machine, json)) = drawn(seed) else { continue };
        let (text, ..) = written(&machine, seed);
        let read = Read::read(&json).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        let source = Text::read(&text).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
        let first = Induction { settled: CLOCKS, ..Induction::default() };
        let made = Compared::new_machine(&read, &source, (&first, false), &mut |_, _, _| Ok(()));
        let mut compared = made.unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
        let followed = compared.follow(&Side::Text(&source, None), &mut |_, _, _| Ok(()));
        followed.unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
        // One run: inputs by their names.
        let mut rng = SplitMix::new(seed);
        let mut sim = Simulation::new(&machine, LookupMiss::Zero);
        let (mut bits, mut rows) = (Vec::new(), Vec::new());
        for _ in 0..CLOCKS {
            let mut applied = BTreeMap::new();
            for port in machine.inputs() {
                let codes = stimulus(&machine, port, &mut rng);
                sim.apply(port, &codes);
                applied.insert(machine.signal(port).name.as_str(), codes);
            }
            sim.settle().unwrap();
            let outputs = machine.outputs().map(|port| (machine.signal(port).name.clone(), sim.values(port).to_vec()));
            rows.push(outputs.collect::<BTreeMap<_, _>>());
            for (name, types) in read.ports(true) {
                for (code, kind) in applied[name].iter().zip(types) {
                    bits.extend((0..kind.width as u64).map(|bit| code.bit(bit)));
                }
            }
            sim.clock();
        }
        let mut bits = bits.into_iter();
        // What is no input of a clock is what a register without a first value begins as.
        let values = compared.graph.values(|| if bits.next().unwrap_or(false) { u64::MAX } else { 0 });
        let is_one = |lit: &Lit| (values[lit.node()] & 1 == 1) != lit.is_negated();
        let mut at = 0;
        for row in &rows {
            for (name, types) in read.ports(false) {
                for (value, kind) in row[name].iter().zip(types).filter(|(_, kind)| kind.width > 0) {
                    let known = |side: &[Vec<Lit>]| {
                        let word = side[at].iter().enumerate();
                        word.fold(BigInt::ZERO, |code, (bit, lit)| code + (BigInt::from(u8::from(is_one(lit))) << bit))
                    };
                    let modulus = BigInt::from(1) << kind.width;
                    let golden = ((&value.code % &modulus) + &modulus) % &modulus;
                    if value.defined {
                        assert_eq!(known(&compared.expected), golden, "seed {seed}, {name}\n{text}");
                        compared_values += 1;
                    } else {
                        assert_eq!(known(&compared.expected), BigInt::ZERO, "seed {seed}, {name}: not defined\n{text}");
                    }
                    assert_eq!(known(&compared.found), known(&compared.expected), "seed {seed}, {name}\n{text}");
                    at += 1;
                }
            }
        }
    }
    assert!(compared_values > 2_000, "{compared_values}");
}
