//! Certificates: what `prove --certificate` records and `alir2hdl-check` replays.

use crate::certificate_files::{answer, changed, corrupted, read, run};
use alir_testing::first_or_all;
use alir_testing::random::{Gene, Profile, Recipe};
use alir2hdl::formats::{Target, prepare, read as read_model};
use alir2hdl::interp::{LookupMiss, Step as Computed, golden_steps};
use alir2hdl::ir::Limits;
use alir2hdl::num::SplitMix;
use alir2hdl_check::certificate::{Certificate, Place};
use alir2hdl_check::graph::{Graph, Lit};
use alir2hdl_check::program::Program;
use alir2hdl_check::records::Record;
use alir2hdl_check::text::Text;
use alir2hdl_check::{AT_THE_END, Answer, Compared, Side};
use num_bigint::BigInt;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models").join(name).join("model.json.gz")
}

fn alir2hdl(dir: &TempDir, args: &[&str]) -> (i32, String) {
    run(env!("CARGO_BIN_EXE_alir2hdl"), dir, args)
}

fn checker(dir: &TempDir, args: &[&str]) -> (i32, String) {
    run(env!("CARGO_BIN_EXE_alir2hdl-check"), dir, args)
}

/// The RTL of a model (`m.v` or `m.vhd`) with its certificate, in a folder.
fn certified(model: &str, options: &str, text: &str) -> (TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let model = path(model).display().to_string();
    let language = if text.ends_with(".v") { "--verilog" } else { "--vhdl" };
    let mut args = vec![model.as_str(), language, text];
    args.extend(options.split_whitespace());
    let (code, said) = alir2hdl(&dir, &args);
    assert_eq!(code, 0, "{said}");
    let (code, said) = alir2hdl(&dir, &["prove", &model, text, "--certificate", "proof"]);
    assert_eq!(code, 0, "{said}");
    (dir, model)
}

#[test]
fn certificates_are_replayed_by_a_program_of_its_own() {
    for (model, options) in [
        ("tiny_ops", "-O0"),
        ("tiny_ops", "-O2 --pipeline 3 --valid --enable --reset sync --keep-names"),
        ("edge_kif", "-O1 --pipeline 2 --register-inputs --shreg-extract no"),
        ("bit_logic", "-O1 --ports split"),
        ("sort_topk", "-O1"),
        ("wide_acc", "-O2 --pipeline 1 --enable"),
        ("var_mul", "-O0 --pipeline 2 --valid --reset async --reset-data --reset-polarity low --ports split"),
        ("jet_mlp", "-O0 --pipeline 3"),
        ("lut_heavy", "-O0 --pipeline 2 --rom-style block --reset sync --valid"),
        // Stages and tables that are modules.
        ("tiny_ops", "-O1 --pipeline 2 --split-above 5 --valid --enable --reset async"),
        ("tiny_ops", "-O0 --rom-style lut"),
        // Samples every few clocks.
        ("sort_topk", "-O1 --ii 4 --ii-engine fold --valid --enable --reset sync"),
        ("lut_heavy", "-O1 --ii 4 --ii-input held --ii-engine fold"),
        ("edge_kif", "-O2 --ii 3 --ii-engine serial --valid --reset async --reset-data --ports split"),
        ("tiny_ops", "-O1 --ii 5 --register-outputs --enable"),
    ] {
        for text in ["m.v", "m.vhd"] {
            let (dir, model) = certified(model, options, text);
            let (code, said) = checker(&dir, &[&model, text, "proof"]);
            assert_eq!(code, 0, "{model} {options} {text}: {said}");
            let after = |option| options.split(' ').skip_while(|word| *word != option).nth(1);
            let mut statement = match (after("--pipeline"), after("--ii")) {
                (_, Some(interval)) => {
                    // As in the header comment of the RTL.
                    let text = read(&dir, text);
                    let (_, latency) = text.split_once("latency ").expect("a latency");
                    let latency: String = latency.chars().take_while(char::is_ascii_digit).collect();
                    let held = if options.contains("held") { " that stays on its ports" } else { "" };
                    format!("a sample every {interval} clocks{held}, after {latency} clocks")
                }
                (None, None) => "combinational".to_owned(),
                (Some(stages), None) => {
                    let edges = stages.parse::<u32>().unwrap() + u32::from(options.contains("--register-inputs"));
                    format!("after {edges} clocks")
                }
            };
            if options.contains("--enable") {
                statement += " in which ce is 1";
            }
            if after("--reset").is_some() {
                statement += if options.contains("low") { " since rst_n was last 0" } else { " since rst was last 1" };
            } else if after("--ii").is_some() {
                statement += " since power-on";
            }
            assert_eq!(said, format!("holds: {statement}, for every input\n"), "{model} {options} {text}");
            let report = read(&dir, "proof/report.json");
            assert!(report.contains("can check the proof of every output"), "{report}");
        }
    }
}

#[test]
fn what_is_no_proof_is_never_called_one() {
    let (dir, model) = certified("tiny_ops", "-O2 --pipeline 1", "m.v");
    let refused = |args: &[&str], code: i32, what: &str| {
        let (status, said) = checker(&dir, args);
        assert!(status == code && said.contains(what), "{args:?}: {status} {said}");
    };
    refused(&[], 2, "Usage");
    refused(&["--help"], 0, "Exit codes");
    refused(&[&model, "m.v", "nowhere"], 2, "proof.txt");
    refused(&[&model, &model, "proof"], 2, "no text");
    refused(&["m.v", "m.v", "proof"], 2, "not ALIR JSON");
    // Another model, another text.
    refused(&[&path("edge_kif").display().to_string(), "m.v", "proof"], 2, "ports");
    let text = read(&dir, "m.v");
    let at = text.rfind(" + {").expect("a sum");
    std::fs::write(dir.path().join("wrong.v"), format!("{} - {{{}", &text[..at], &text[at + 4..])).unwrap();
    refused(&[&model, "wrong.v", "proof"], 1, "refuted: output");
    // A register too few on one path, a driver too few.
    let line = text.lines().find(|line| line.contains("<= v")).unwrap();
    let early = line.trim().trim_end_matches(';').split(" <= ").collect::<Vec<_>>();
    let skipped = text.replacen(&format!("= {};", early[0]), &format!("= {};", early[1]), 1);
    if skipped != text {
        std::fs::write(dir.path().join("early.v"), skipped).unwrap();
        refused(&[&model, "early.v", "proof"], 2, "");
    }
    std::fs::write(dir.path().join("open.v"), text.replacen(line, "", 1)).unwrap();
    refused(&[&model, "open.v", "proof"], 2, "");
    // Something ahead of the module, an expression without an end, an attribute that is not all of what it seems.
    std::fs::write(dir.path().join("ahead.v"), format!("module_count\n{text}")).unwrap();
    refused(&[&model, "ahead.v", "proof"], 2, "expected \"module\"");
    for (item, what) in [
        ("wire deep = {1".to_owned() + &"{1".repeat(100_000) + "{1'b0}" + &"}".repeat(100_001) + ";", "too deep"),
        ("(* keep = \"a *) wire b = 1'b0; (* c\" *) wire d;".to_owned(), "an attribute"),
    ] {
        std::fs::write(dir.path().join("item.v"), text.replacen("    wire ", &format!("    {item}\n    wire "), 1))
            .unwrap();
        refused(&[&model, "item.v", "proof"], 2, what);
    }
    // A certificate that shows nothing.
    std::fs::write(dir.path().join("proof/proof.txt"), "alir2hdl-certificate 6\nstep text\n").unwrap();
    let (status, said) = checker(&dir, &[&model, "m.v", "proof"]);
    assert!(status == 0 || status == 5, "{said}");
    for wrong in ["", "alir2hdl-certificate 9\nstep text\n", "alir2hdl-certificate 6\nstep ../m.json\nstep text\n"] {
        std::fs::write(dir.path().join("proof/proof.txt"), wrong).unwrap();
        refused(&[&model, "m.v", "proof"], 2, "certificate");
    }
    // A gate, a bit and a leaf that do not exist.
    for record in ["all 0 4294967295 5", "all 0 999999 5", "all 999999 4 5", "all 0 4 4294967295", "all 0 4 5 / 9 9"] {
        let proof = format!("alir2hdl-certificate 6\nstep text\nat 9\n{record}\n");
        std::fs::write(dir.path().join("proof/proof.txt"), proof).unwrap();
        refused(&[&model, "m.v", "proof"], 2, "unreadable: ");
    }
    // A program without records that is not marked as bare, though it is the model itself.
    std::fs::copy(&model, dir.path().join("proof/model.json.gz")).unwrap();
    let proof = "alir2hdl-certificate 6\nstep model.json.gz\nstep text\n";
    std::fs::write(dir.path().join("proof/proof.txt"), proof).unwrap();
    refused(&[&model, "m.v", "proof"], 2, "a program without records");
    // The same program marked as bare, which adds no gate; and the RTL file marked as bare.
    for (word, what) in [("model.json.gz\nstep text", "builds no gates"), ("text", "the last step is not the RTL")] {
        let proof = format!("alir2hdl-certificate 6\nbetween {word}\n");
        std::fs::write(dir.path().join("proof/proof.txt"), proof).unwrap();
        refused(&[&model, "m.v", "proof"], 2, what);
    }
}

/// Asserts that a certificate's timing is checked: another interval or latency is refused, and so is a shorter stable
/// time of a sample.
#[test]
fn a_sample_timing_is_that_of_the_text() {
    for (model, options, is_held) in [
        ("sort_topk", "-O1 --ii 4 --ii-engine fold", false),
        ("lut_heavy", "-O1 --ii 4 --ii-engine fold --ii-input held", true),
        ("edge_kif", "-O1 --ii 4 --ii-engine serial", false),
    ] {
        let (dir, model) = certified(model, options, "m.v");
        let (text, proof) = (read(&dir, "m.v"), read(&dir, "proof/proof.txt"));
        let line = proof.lines().find(|line| line.starts_with("every ")).expect("a sample timing");
        let numbers: Vec<usize> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
        let &[interval, latency] = &numbers[..] else { panic!("{line}") };
        let held = if is_held { " held" } else { "" };
        assert_eq!(line, format!("every {interval} {latency}{held}"));
        let said =
            |line: &str| answer(&dir, &model, &text, &proof.replacen(&proof[..proof.find("step").unwrap()], line, 1));
        let with = |line: &str| said(&format!("alir2hdl-certificate 6\n{line}"));
        let holds = |said: &Result<Answer, String>| matches!(said, Ok(Answer::Holds(_)));
        assert!(!holds(&with("")), "{options}");
        for (interval, latency) in [
            (interval + 1, latency),
            (interval - 1, latency),
            (2 * interval, latency),
            (interval, latency + 1),
            (interval, latency - 1),
            (interval, latency + interval),
            (1, latency),
        ] {
            let said = with(&format!("every {interval} {latency}{held}\n"));
            assert!(!holds(&said), "{options}: {interval} {latency}: {said:?}");
        }
        if is_held {
            let said = with(&format!("every {interval} {latency}\n"));
            assert!(!holds(&said), "{options}: {said:?}");
        }
    }
}

/// Samples that come some elements at a time: the core next to its wrapper. The certificate gives the module and the
/// place of each element, and no other ones hold.
#[test]
fn samples_in_beats_are_replayed() {
    let all = [
        ("edge_kif", "-O1 --ii 4 --ii-engine fold", "16", "m.v"),
        ("lut_heavy", "-O2 --ii 8 --ii-engine fold", "32", "m.vhd"),
        ("jet_mlp", "-O1 --ii 8 --ii-engine fold", "16", "m.v"),
    ];
    for &(name, options, width, file) in first_or_all(&all, 2) {
        let dir = tempfile::tempdir().unwrap();
        let model = path(name).display().to_string();
        let language = if file.ends_with(".v") { "--verilog" } else { "--vhdl" };
        let mut args = vec![model.as_str(), language, file, "--top", "m"];
        args.extend(["--wrapper", "axis", "--ii-input", "beats", "--axis-width", width]);
        args.extend(options.split(' '));
        let (code, said) = alir2hdl(&dir, &args);
        assert_eq!(code, 0, "{name}: {said}");
        let (code, said) = alir2hdl(&dir, &["prove", &model, file, "--top", "m_core", "--certificate", "proof"]);
        assert!(code == 0 && said.contains("can check the proof of every output"), "{name}: {said}");
        let (code, said) = checker(&dir, &[&model, file, "proof"]);
        let is_told = said.starts_with("holds: of m_core: a sample every ") && said.contains(" whose inputs come in ");
        assert!(code == 0 && is_told, "{name}: {said}");
        let (text, proof) = (read(&dir, file), read(&dir, "proof/proof.txt"));
        let line = proof.lines().find(|line| line.starts_with("beats ")).expect("beats");
        let beats: Vec<&str> = line.split(' ').collect();
        let other = |at: usize, number: &str| {
            let mut words = beats.clone();
            words[at] = number;
            words.join(" ")
        };
        let last = beats.len() - 2;
        for wrong in [
            other(1, "1"),
            other(2, "1"),
            other(last, "0"),
            other(last, "99"),
            other(last, "18446744073709551615"),
            other(last + 1, "4096"),
            other(last + 1, "18446744073709551615"),
            beats[..last].join(" "),
            format!("{line} 0 0"),
            beats[..=last].join(" "),
            format!("{line}\n{line}"),
            "top m\n".to_owned() + line,
        ] {
            let said = answer(&dir, &model, &text, &proof.replacen(line, &wrong, 1));
            assert!(!matches!(said, Ok(Answer::Holds(_))), "{name}: {wrong}: {said:?}");
        }
        for wrong in ["", "top m\n", "top other\n", "top m_core\ntop m_core\n"] {
            let said = answer(&dir, &model, &text, &proof.replacen("top m_core\n", wrong, 1));
            assert!(said.is_err(), "{name}: {wrong:?}: {said:?}");
        }
        let mut rng = SplitMix::new(1);
        for _ in 0..12 {
            let Some(wrong) = changed(&text, &mut rng) else { continue };
            if let Ok(Answer::Holds(_)) = answer(&dir, &model, &wrong, &proof) {
                std::fs::write(dir.path().join(format!("wrong_{file}")), &wrong).unwrap();
                let prove = ["prove", &model, &format!("wrong_{file}"), "--top", "m_core"];
                let (code, said) = alir2hdl(&dir, &prove);
                assert_eq!(code, 0, "{name}: {said}");
            }
        }
    }
}

#[test]
fn a_difference_is_replayed_too() {
    let dir = tempfile::tempdir().unwrap();
    let model = path("tiny_ops").display().to_string();
    assert_eq!(alir2hdl(&dir, &[&model, "--verilog", "m.v", "-O0"]).0, 0);
    // Differs for one pattern of the sign bit and all others only.
    let text = read(&dir, "m.v").replace("wire v48 = &v2;", "wire v48 = |v2;");
    std::fs::write(dir.path().join("m.v"), text).unwrap();
    let (code, said) = alir2hdl(&dir, &["prove", &model, "m.v", "--certificate", "proof"]);
    assert_eq!(code, 1, "{said}");
    let (code, said) = checker(&dir, &[&model, "m.v", "proof"]);
    assert!(code == 1 && said.contains("refuted: output 48"), "{said}");
}

#[test]
fn why_there_is_nothing_for_the_checker_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let model = path("tiny_ops").display().to_string();
    assert_eq!(alir2hdl(&dir, &[&model, "--verilog", "m.v", "-O0"]).0, 0);
    // As others would write it.
    let text = read(&dir, "m.v").replace("wire v48 = &v2;", "wire v48 = v2 == 3'd7;");
    std::fs::write(dir.path().join("m.v"), text).unwrap();
    let (code, said) = alir2hdl(&dir, &["prove", &model, "m.v", "--certificate", "proof"]);
    let (status, answer) = checker(&dir, &[&model, "m.v", "proof"]);
    assert!(code == 0 && said.contains("no proof.txt for alir2hdl-check: "), "{said}");
    assert!(status == 2 && answer.contains("proof.txt"), "{answer}");
    assert!(!dir.path().join("proof/proof.txt").exists());
}

/// RTL with every construct that the checker reads, each with a defect: the prover does not prove it, and the
/// checker never says that they hold.
#[test]
fn a_mistake_in_any_construct_is_seen() {
    let controls = "-O1 --pipeline 2 --ports split --valid --enable --reset async --reset-data --reset-polarity low";
    planted(
        "tiny_ops",
        controls,
        "m.vhd",
        &[
            ("- resize(v0_s1, 9);", "+ resize(v0_s1, 9);"),
            ("shift_left(resize(v1_s1, 9), 2)", "shift_left(resize(v1_s1, 9), 3)"),
            ("v5 <= -signed(", "v5 <= signed("),
            ("out61 <= 0 - unsigned(v41);", "out61 <= not unsigned(v41);"),
            ("v50 <= unsigned(v0_s1(5 downto 1)) and v1_s1;", "v50 <= unsigned(v0_s1(5 downto 1)) or v1_s1;"),
            ("v51_a <= unsigned(v0_s1(5 downto 1)) or v1_s1;", "v51_a <= unsigned(v0_s1(5 downto 1)) xor v1_s1;"),
            ("v52_a <= unsigned(v0_s1(5 downto 1)) xor v1_s1;", "v52_a <= unsigned(v0_s1(5 downto 1)) and v1_s1;"),
            ("v43 <= not v0_s1", "v43 <= v0_s1"),
            ("/= \"000000\"", "/= \"000001\""),
            ("= \"111\" else", "= \"110\" else"),
            ("= \"111\" else", "/= \"111\" else"),
            ("v0_s1 * signed(resize(v1_s1, 6))", "v0_s1 * signed(resize(v1_s1(3 downto 0), 6))"),
            ("unsigned(v0_s1 * v0_s1)", "unsigned(v0_s1 * resize(v0_s1(4 downto 0), 6))"),
            ("signed'(2 downto 0 => v2_s1(2)) - v2_s1", "signed'(2 downto 0 => v2_s1(1)) - v2_s1"),
            ("v2_s1(2) = '1' else", "v2_s1(2) = '0' else"),
            ("shift_left(resize(v1_s1, 7), 1)", "shift_left(resize(v1_s1, 7), 2)"),
            ("to_01(unsigned(v2_s1))", "to_01(unsigned(v0_s1(2 downto 0)))"),
            ("to_01(unsigned(v2_s1))", "v2_s1"),
            ("\"001101\"", "\"001111\""),
            ("v38_s2 <= v38;", "v38_s2 <= v39;"),
            ("v43_s2 <= v43;", "v43_s2 <= v0_s1;"),
            ("v0_s2 <= v0_s1;", "v0_s2 <= v0;"),
            ("v0_s1 <= v0;", "v0_s1 <= v0(4 downto 0) & v0(5);"),
            ("std_logic_vector(v0_s2);", "std_logic_vector(v0_s1);"),
            ("if rst_n = '0' then", "if rst_n = '1' then"),
            ("if rst_n = '0' then", "if ce = '0' then"),
            ("if ce = '1' then", "if ce = '0' then"),
            ("if ce = '1' then", "if rst_n = '1' then"),
            ("if ce = '1' then", "if valid_in = '1' then"),
            ("rising_edge(clk)", "falling_edge(clk)"),
            ("rising_edge(clk)", "rising_edge(ce)"),
            ("process (clk, rst_n)", "process (clk)"),
            ("valid_s1 <= \"0\";", "valid_s1 <= \"1\";"),
            ("v10_s2 <= \"000000000\";", "v10_s2 <= \"000000001\";"),
            ("v10_s2 <= \"000000000\";", ""),
            ("valid_s1 <= unsigned'(0 => valid_in);", "valid_s1 <= \"1\";"),
            ("valid_out <= valid_s2(0);", "valid_out <= valid_s1(0);"),
            ("valid_out <= valid_s2(0);", "valid_out <= v3_s2(0);"),
            ("valid_out <= valid_s2(0);", "valid_out <= '1';"),
            ("out_4 <= std_logic_vector(v4_s2)", "out_4 <= std_logic_vector(v32_s2)"),
        ],
    );
    planted(
        "tiny_ops",
        controls,
        "m.v",
        &[
            ("if (!rst_n)", "if (rst_n)"),
            ("if (!rst_n)", "if (!ce)"),
            ("negedge rst_n", "posedge rst_n"),
            ("or negedge rst_n", "or negedge ce"),
            ("else if (ce)", "else if (!ce)"),
            ("else if (ce)", "else if (valid_in)"),
            ("else if (ce)", "else"),
            ("posedge clk", "negedge clk"),
            ("valid_s1 <= 1'b0;", "valid_s1 <= 1'b1;"),
            ("v10_s2 <= 9'd0;", ""),
            ("valid_s1 <= valid_in;", "valid_s1 <= 1'b1;"),
            ("assign valid_out = valid_s2;", "assign valid_out = valid_s1;"),
            ("= inp_0;", "= {inp_0[4:0], inp_0[5]};"),
            ("assign out_4 = v4_s2;", "assign out_4 = v32_s2;"),
            ("$signed({6'd0, v1_s1})", "$signed({6'd1, v1_s1})"),
        ],
    );
    let block = "-O0 --pipeline 2 --rom-style block --reset sync --valid";
    planted(
        "lut_heavy",
        block,
        "m.v",
        &[("rom2[7] = 10'h", "rom2[7] = ~10'h"), ("if (rst)", "if (!rst)"), ("rom2[9] =", "rom2[8] =")],
    );
    planted(
        "lut_heavy",
        block,
        "m.vhd",
        &[
            ("\"0000000100\",", "\"0000000101\","),
            ("if rst = '1'", "if rst = '0'"),
            ("is array (0 to 1023)", "is array (0 to 511)"),
        ],
    );
    planted(
        "bit_logic",
        "-O2",
        "m.vhd",
        &[
            ("< v60 else", "< signed(resize(unsigned(v60(2 downto 0)), 4)) else"),
            ("< v60 else", "/= v60 else"),
            ("< v75 else", "< not v75 else"),
            ("<= \"1\" when signed(", "<= \"1\" when unsigned("),
        ],
    );
}

/// Plants defects in RTL of several modules, and in RTL that accepts a sample every K cycles.
#[test]
fn a_mistake_in_modules_or_clocks_is_seen() {
    planted(
        "tiny_ops",
        "-O1 --pipeline 2 --split-above 5 --valid --reset sync",
        "m.v",
        &[
            (".v0_s1(v0_s1)", ".v0_s1(v0)"),
            (".clk(clk)", ".clk(rst)"),
            (".rst(rst)", ".rst(valid_in)"),
            (".valid_in(valid_in),", ""),
            (".v0(v0),", ".v0(v0), .v0(v0),"),
            (".v1(v1),", ".v1(v0[4:0]),"),
            ("m_stage_2 u_m_stage_2", "m_stage_1 u_m_stage_2"),
            ("module m_stage_1 (", "module m_stage_2 ("),
            ("output reg [5:0] v0_s1", "output reg [4:0] v0_s1"),
        ],
    );
    planted(
        "tiny_ops",
        "-O1 --pipeline 2 --split-above 5 --valid --reset sync",
        "m.vhd",
        &[
            ("v0_s1 => v0_s1,", "v0_s1 => v0,"),
            ("clk => clk,", "clk => rst,"),
            ("entity work.m_stage_2", "entity work.m_stage_1"),
            ("entity work.m_stage_1", "entity work.m"),
        ],
    );
    let clocks = "-O1 --ii 4 --ii-engine fold --valid --enable --reset sync";
    planted(
        "sort_topk",
        clocks,
        "m.v",
        &[
            ("phase <= 2'd0;", "phase <= 2'd1;"),
            ("phase_is_0 <= 1'b1;", "phase_is_0 <= 1'b0;"),
            ("valid_now <= 1'b0;", ""),
            ("if (rst)", "if (!rst)"),
            ("else if (logic_m_v0)", "else if (logic_m_v1)"),
            ("= valid_in;", "= 1'b1;"),
            ("assign ready = ", "assign ready = ~"),
            ("assign valid_out = ", "assign valid_out = ready & "),
            ("_s1 <= logic_m_v", "_s1 <= ~logic_m_v"),
            ("? ", "? ~"),
            (" < ", " + "),
        ],
    );
    planted(
        "edge_kif",
        "-O1 --ii 3 --ii-engine serial --enable --ports split",
        "m.vhd",
        &[
            ("phase <= logic", "phase <= not logic"),
            ("at_0 <= logic", "at_0 <= not logic"),
            (" <= logic_m_v27 xor ", " <= logic_m_v27 and "),
            (" <= logic_m_v27 and ", " <= logic_m_v27 or "),
            ("rising_edge(clk)", "rising_edge(ce)"),
            ("unsigned'(0 => ce)", "\"1\""),
        ],
    );
}

fn planted(name: &str, options: &str, file: &str, mistakes: &[(&str, &str)]) {
    let (dir, model) = certified(name, options, file);
    let (text, proof) = (read(&dir, file), read(&dir, "proof/proof.txt"));
    assert!(matches!(answer(&dir, &model, &text, &proof), Ok(Answer::Holds(_))));
    for (right, mistake) in mistakes {
        assert!(text.contains(right), "{file}: {right:?} stands nowhere");
        let wrong = text.replacen(right, mistake, 1);
        let said = answer(&dir, &model, &wrong, &proof);
        assert!(!matches!(said, Ok(Answer::Holds(_))), "{file}: {mistake:?} for {right:?}");
        let wrong_file = format!("wrong_{file}");
        std::fs::write(dir.path().join(&wrong_file), &wrong).unwrap();
        let (code, said) = alir2hdl(&dir, &["prove", &model, &wrong_file]);
        assert_ne!(code, 0, "{file}: {mistake:?} for {right:?}: {said}");
    }
}

/// Texts with certificates that are small.
const SMALL: [(&str, &str, &str); 10] = [
    ("tiny_ops", "-O2", "m.v"),
    ("tiny_ops", "-O2 --pipeline 1 --enable", "m.vhd"),
    ("edge_kif", "-O1 --pipeline 2 --valid --reset sync --reset-data", "m.v"),
    ("edge_kif", "-O1 --ports split", "m.vhd"),
    ("bit_logic", "-O1", "m.vhd"),
    ("sort_topk", "-O1", "m.v"),
    ("wide_acc", "-O1", "m.v"),
    ("tiny_ops", "-O1 --pipeline 2 --split-above 5", "m.vhd"),
    ("sort_topk", "-O1 --ii 4 --ii-engine fold --valid", "m.v"),
    ("edge_kif", "-O1 --ii 3 --ii-engine serial --enable --reset sync", "m.vhd"),
];

/// Texts with certificates that have records of every kind.
const LARGE: [(&str, &str, &str); 4] = [
    ("anomaly_ae", "-O2", "m.v"),
    ("jet_mlp", "-O2 --pipeline 2", "m.vhd"),
    ("lut_heavy", "-O1", "m.v"),
    ("var_mul", "-O2", "m.v"),
];

/// Returns the difference between a changed certificate that is still accepted and the right one.
fn class(right: &Certificate, other: &Certificate) -> &'static str {
    let programs = |c: &Certificate| c.steps.iter().map(|step| step.program.clone()).collect::<Vec<_>>();
    let places = |c: &Certificate| -> Vec<(usize, usize, Place)> {
        let all = c.steps.iter().enumerate();
        all.flat_map(|(i, step)| step.places.iter().map(move |(at, place)| (i, *at, place.clone()))).collect()
    };
    let images = |c: &Certificate| places(c).into_iter().map(|(i, at, p)| (i, at, p.images)).collect::<Vec<_>>();
    let records = |c: &Certificate| -> BTreeMap<(usize, usize, usize, u32), Record> {
        let of = |(i, at, p): (usize, usize, Place)| {
            p.records.into_iter().map(move |record| ((i, at, record.bit, record.other.0), record))
        };
        places(c).into_iter().flat_map(of).collect()
    };
    let (own, its) = (records(right), records(other));
    let (is_less, is_more) =
        (own.keys().any(|key| !its.contains_key(key)), its.keys().any(|key| !own.contains_key(key)));
    match () {
        () if programs(right) != programs(other) => "a program fewer",
        () if images(right).into_iter().flat_map(|i| i.2).ne(images(other).into_iter().flat_map(|i| i.2)) => {
            "another definition of an image"
        }
        () if is_more => "another lemma",
        () if is_less => "a lemma fewer",
        () if right.sample_timing != other.sample_timing => "another sample timing",
        () if own != its => "another proof of a lemma",
        () if places(right) != places(other) => "another order",
        () => panic!("there are two ways to write a certificate"),
    }
}

/// Asserts that what a certificate says is true where it can be seen by simulation: that each bit of a value is the
/// gate that its record says, and each value in the range that is known of it, for random inputs; where values of the
/// programs are what the reference interpreter computes. Returns the number of records.
fn assert_true(dir: &TempDir, model: &str, text: &str, proof: &str, what: &str) -> usize {
    let bytes = |name: &str| std::fs::read(dir.path().join("proof").join(name)).unwrap();
    let certificate = Certificate::read(proof).unwrap();
    let text = Text::read(text).unwrap();
    let mut files = vec![std::fs::read(model).unwrap()];
    files.extend(certificate.steps.iter().filter_map(|step| step.program.as_ref()).map(|name| bytes(name)));
    let programs: Vec<Program> = files.iter().map(|file| Program::read(file).unwrap()).collect();
    let mut compared = Compared::new(&programs[0], &mut |_, _, _| Ok(())).unwrap();
    let mut equal: Vec<(Lit, Lit)> = Vec::new();
    for (i, step) in certificate.steps.iter().enumerate() {
        let side = match step.program {
            Some(_) => Side::Program(&programs[i + 1]),
            None => Side::Text(&text, certificate.sample_timing.as_ref()),
        };
        let mut apply = |g: &mut Graph, at: usize, bits: &[Lit]| {
            for record in step.places.get(&at).map_or(&[][..], |place| &place.records) {
                equal.push((bits[record.bit], record.other));
                record.apply(g, bits[record.bit])?;
            }
            Ok::<(), String>(())
        };
        let followed = compared.follow(&side, &mut |g, at, bits| match bits {
            Some(bits) => apply(g, at, bits),
            None => {
                g.sums.unused.clear();
                let images = step.places.get(&at).map_or(&[][..], |place| &place.images);
                images.iter().try_for_each(|image| image.make(g).map(|_| ()))
            }
        });
        followed.unwrap();
        let found = compared.found.concat();
        apply(&mut compared.graph, AT_THE_END, &found).unwrap();
    }
    let models: Vec<_> = files.iter().map(|file| read_model(&file[..], &Limits::default(), None).unwrap().0).collect();
    let mut rng = SplitMix::new(equal.len() as u64);
    for round in 0..16 {
        let values = compared.graph.values(|| rng.word());
        let value = |lit: Lit| values[lit.node()] ^ if lit.is_negated() { u64::MAX } else { 0 };
        for &(x, y) in &equal {
            assert_eq!(value(x), value(y), "{what}: {x:?} {y:?}");
        }
        // One assignment of each round, by the reference interpreter.
        let code = |bits: &[Lit], signed: bool| {
            let mut code = BigInt::ZERO;
            bits.iter().enumerate().for_each(|(i, &bit)| code.set_bit(i as u64, value(bit) >> (round % 64) & 1 == 1));
            let is_negative = signed && bits.last().is_some_and(|&bit| value(bit) >> (round % 64) & 1 == 1);
            if is_negative { code - (BigInt::from(1) << bits.len()) } else { code }
        };
        let inputs: Vec<BigInt> =
            compared.inputs.iter().zip(models[0].input_kifs()).map(|(bits, kif)| code(bits, kif.signed)).collect();
        for (model, values) in models.iter().zip(&compared.graph.sums.programs) {
            let mut at = values.iter();
            let seen = |step: Computed<'_>| {
                if let Computed::Op { code: expected, .. } = step {
                    let value = at.next().unwrap();
                    let own = code(&value.bits, value.kind.signed);
                    assert_eq!(own, *expected, "{what}");
                    let is_within =
                        value.range.is_none_or(|(lo, hi)| BigInt::from(lo) <= own && own <= BigInt::from(hi));
                    assert!(is_within, "{what}: {own} in {:?}", value.range);
                }
            };
            golden_steps(model, &inputs, LookupMiss::Zero, seen).unwrap();
        }
    }
    equal.len()
}

/// Number of answers of each kind.
#[derive(Debug, Default)]
struct Answers {
    /// To a right text, by what was corrupted, if it was one line, and whether the certificate was changed by that.
    right: BTreeMap<(&'static str, &'static str), u32>,
    /// To a wrong one, with the right certificate and with the corrupted one.
    wrong: BTreeMap<&'static str, u32>,
    /// Certificates that were changed.
    corrupted: u32,
    /// Differences of certificates that are still accepted, and the number of their records.
    accepted: BTreeMap<&'static str, u32>,
    records: usize,
}

/// A corrupted certificate never makes a wrong text right, or a right one wrong; a wrong text is never called right.
/// What a corrupted certificate says that is accepted is true.
fn attacks(subjects: &[(&str, &str, &str)], seeds: std::ops::Range<u64>) -> Answers {
    let mut answers = Answers::default();
    for (name, options, file) in subjects {
        let (dir, model) = certified(name, options, file);
        let (text, proof) = (read(&dir, file), read(&dir, "proof/proof.txt"));
        assert!(matches!(answer(&dir, &model, &text, &proof), Ok(Answer::Holds(_))), "{name} {options}");
        for seed in seeds.clone() {
            let mut rng = SplitMix::new(seed);
            let (other, kinds) = corrupted(&proof, &mut rng);
            let right = answer(&dir, &model, &text, &other);
            let said = match right {
                Ok(Answer::Holds(_)) => "holds",
                Ok(Answer::NotShown(..)) => "not shown",
                Err(_) => "refused",
                Ok(Answer::Refuted(..)) => panic!("{name} {seed}: {right:?}"),
            };
            if other != proof {
                answers.corrupted += 1;
                let what = if kinds.len() == 1 { kinds[0] } else { "several" };
                *answers.right.entry((what, said)).or_default() += 1;
                if said == "holds" {
                    let class = class(&Certificate::read(&proof).unwrap(), &Certificate::read(&other).unwrap());
                    *answers.accepted.entry(class).or_default() += 1;
                    answers.records += assert_true(&dir, &model, &text, &other, &format!("{name} {seed}"));
                }
            }
            let Some(wrong) = changed(&text, &mut rng) else { continue };
            for proof in [&proof, &other] {
                let said = match answer(&dir, &model, &wrong, proof) {
                    Ok(Answer::Holds(_)) => {
                        // What was changed may not matter: then the prover says so as well.
                        let wrong_file = format!("wrong_{file}");
                        std::fs::write(dir.path().join(&wrong_file), &wrong).unwrap();
                        let (code, said) = alir2hdl(&dir, &["prove", &model, &wrong_file]);
                        assert_eq!(code, 0, "{name} {seed}: {said}");
                        "holds"
                    }
                    Ok(Answer::Refuted(..)) => "refuted",
                    Ok(Answer::NotShown(..)) => "not shown",
                    Err(_) => "refused",
                };
                *answers.wrong.entry(said).or_default() += 1;
            }
        }
    }
    answers
}

#[test]
fn corrupted_certificates_and_texts_are_refused() {
    let answers = attacks(&SMALL, 0..40);
    assert!(answers.wrong["refuted"] > 20 && answers.wrong["refused"] > 3, "{answers:?}");
    // Records of every kind, each of which was refused at times.
    let answers = attacks(&LARGE[2..3], 0..60);
    for kind in ["place", "image", "record with ranges", "record by exhaustion"] {
        assert!(answers.right.contains_key(&(kind, "refused")), "{kind}: {answers:?}");
    }
}

/// A file in which some numbers are replaced by extreme ones, and brackets by deeply nested ones.
fn with_extreme_tokens(file: &str, rng: &mut SplitMix) -> String {
    let extremes: [String; 14] = [
        "-1".into(),
        i64::MAX.to_string(),
        i64::MIN.to_string(),
        u64::MAX.to_string(),
        i32::MIN.to_string(),
        "4096".into(),
        "-4097".into(),
        "1e308".into(),
        "-5e-324".into(),
        "1e400".into(),
        "9".repeat(2_600),
        "[".repeat(100_000),
        format!("{}{}", "(".repeat(5_000), ")".repeat(5_000)),
        format!("{}1", "-".repeat(5_000)),
    ];
    let bytes = file.as_bytes();
    let is_start = |&at: &usize| bytes[at].is_ascii_digit() && (at == 0 || !bytes[at - 1].is_ascii_alphanumeric());
    let starts: Vec<usize> = (0..bytes.len()).filter(is_start).collect();
    let mut places: Vec<usize> = (0..=rng.below(2)).map(|_| starts[rng.below(starts.len() as u64) as usize]).collect();
    places.sort_unstable();
    places.dedup();
    let mut out = file.to_owned();
    for at in places.into_iter().rev() {
        let end = out[at..].find(|c: char| !c.is_ascii_digit()).map_or(out.len(), |length| at + length);
        out.replace_range(at..end, &extremes[rng.below(extremes.len() as u64) as usize]);
    }
    out
}

/// Extreme numbers and deep nesting in the model, the RTL or the certificate never stop the checker: each is refused
/// with a reason, or has no effect on the answer. Overflows would panic here.
#[test]
fn extreme_numbers_and_nesting_do_not_stop_the_checker() {
    let mut refused = [0; 3];
    for (name, options, file) in SMALL.iter().chain(&LARGE[2..3]) {
        let (dir, model) = certified(name, options, file);
        let (text, proof) = (read(&dir, file), read(&dir, "proof/proof.txt"));
        let mut plain = String::new();
        std::io::Read::read_to_string(
            &mut flate2::read::GzDecoder::new(std::fs::File::open(&model).unwrap()),
            &mut plain,
        )
        .unwrap();
        let program = |name: &str| std::fs::read(dir.path().join("proof").join(name)).map_err(|why| why.to_string());
        for seed in 0..60 {
            let mut rng = SplitMix::new(seed);
            let mut parts = [plain.clone(), text.clone(), proof.clone()];
            let part = seed as usize % 3;
            parts[part] = with_extreme_tokens(&parts[part], &mut rng);
            let said = alir2hdl_check::check(parts[0].as_bytes(), &parts[1], &parts[2], &program);
            if let Err(why) = said {
                assert!(!why.contains("internal error"), "{name}, part {part}, seed {seed}: {why}");
                refused[part] += 1;
            }
        }
    }
    assert!(refused.iter().all(|&count| count > 10), "{refused:?}");
}

/// A shift of an output far beyond the limit is refused by name.
#[test]
fn extreme_output_shifts_are_refused() {
    let model = |shift: i64| {
        format!(
            r#"{{"meta":"ALIRModel","spec_version":4,
            "model":[[1,1],[0],[0],[{shift}],[false],[[[],-1,[0],[0.0,3.0,1.0],0,0]],0,0]}}"#
        )
    };
    assert_eq!(Program::read(model(4096).as_bytes()).map(|_| ()), Ok(()));
    for shift in [4097, -4097, i64::MAX, i64::MIN] {
        let why = Program::read(model(shift).as_bytes()).unwrap_err();
        assert_eq!(why, "an output with a shift beyond the limit");
    }
}

#[test]
#[ignore = "long: 10,000 corrupted certificates"]
fn ten_thousand_corrupted_certificates_are_refused() {
    let (small, large) = (attacks(&SMALL, 1_000..2_500), attacks(&LARGE, 1_000..1_350));
    let corrupted = small.corrupted + large.corrupted;
    // No program can be left out, and there is little else that can be changed and still shows everything.
    for answers in [&small, &large] {
        assert!(!answers.accepted.contains_key("a program fewer"), "{answers:#?}");
    }
    let accepted: u32 = small.accepted.values().chain(large.accepted.values()).sum();
    assert!(accepted * 100 < corrupted, "{accepted} of {corrupted}: {small:#?} {large:#?}");
    eprintln!("{corrupted} corrupted certificates\n{small:#?}\n{large:#?}");
    assert!(corrupted > 10_000, "{corrupted}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// The certificate of a random program's text is replayed; with another text it is refused, or `prove` proves that
    /// text too. A program that fails shrinks.
    #[test]
    fn certificates_of_random_programs_are_replayed_and_belong_to_their_text(
        genes in proptest::collection::vec(any::<Gene>(), 1..24),
        seed: u64,
    ) {
        let model = Recipe::new(Profile::TINY, genes).build();
        let mut bytes = Vec::new();
        let Ok(prepared) = prepare(&model, Target::Alir4) else { return Ok(()) };
        prepared.write(&mut bytes).unwrap();
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("m.json"), bytes).unwrap();
        let mut rng = SplitMix::new(seed);
        let is_vhdl = rng.below(2) == 1;
        let (language, file) = if is_vhdl { ("--vhdl", "m.vhd") } else { ("--verilog", "m.v") };
        let level = ["-O0", "-O1", "-O2"][rng.below(3) as usize];
        let (stages, interval) = (rng.below(3).to_string(), (2 + rng.below(6)).to_string());
        let mut options = match rng.below(4) {
            0 => vec!["--pipeline", &stages, "--split-above", "3"],
            1 => vec!["--pipeline", &stages, "--rom-style", "lut"],
            2 => vec!["--ii", &interval, "--ii-engine", ["fold", "serial", "mixed"][rng.below(3) as usize]],
            _ => vec!["--pipeline", &stages],
        };
        let more = [&["--valid", "--reset", "sync"][..], &["--enable"], &["--ports", "split"]];
        // Without registers there are no other controls.
        if options[1] != "0" {
            options.extend(more.into_iter().filter(|_| rng.below(3) == 0).flatten());
        }
        let (code, said) = alir2hdl(&dir, &[&["m.json", language, file, level], &options[..]].concat());
        // Too few clocks for bits to go one by one, or nothing to reset.
        if code == 2 && (said.contains("E0817") || said.contains("E0801")) {
            return Ok(());
        }
        prop_assert_eq!(code, 0, "{}", said);
        let (code, said) = alir2hdl(&dir, &["prove", "m.json", file, "--certificate", "proof"]);
        prop_assert_eq!(code, 0, "{}", said);
        prop_assert!(!said.contains("no proof.txt for alir2hdl-check: "), "{}", said);
        let path = dir.path().join("m.json").display().to_string();
        let (text, proof) = (read(&dir, file), read(&dir, "proof/proof.txt"));
        let own = answer(&dir, &path, &text, &proof);
        prop_assert!(matches!(own, Ok(Answer::Holds(_))), "{:?} {}", own, said);
        for _ in 0..4 {
            let Some(wrong) = changed(&text, &mut rng) else { continue };
            let said = answer(&dir, &path, &wrong, &proof);
            std::fs::write(dir.path().join(format!("wrong_{file}")), &wrong).unwrap();
            match said {
                Ok(Answer::Holds(_)) => {
                    let (code, said) = alir2hdl(&dir, &["prove", "m.json", &format!("wrong_{file}")]);
                    prop_assert_eq!(code, 0, "{}", said);
                }
                Ok(Answer::Refuted(..)) => {
                    let (code, said) = alir2hdl(&dir, &["prove", "m.json", &format!("wrong_{file}")]);
                    prop_assert_eq!(code, 1, "{}", said);
                }
                Ok(Answer::NotShown(..)) | Err(_) => {}
            }
        }
    }
}
