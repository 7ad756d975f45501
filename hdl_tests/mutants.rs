//! `prove` against files with one mistake, and its verdicts against other tools: what it calls different a simulator
//! shows to be different, what it calls equal yosys and ABC find equal.

use crate::gates::{self, Opinion, run};
use crate::harness::{Case, optimised, read_model, simulate, simulators};
use alir_testing::random::{Profile, Recipe, SplitMix};
use alir2hdl::emit::Language;
use alir2hdl::ir::Model;
use alir2hdl::netlist::{Options, ResetOptions};
use alir2hdl::prove::bench;
use alir2hdl::prove::equiv::{self, Request, Verdict};
use alir2hdl::prove::sat::Embedded;
use alir2hdl::rtl;
use alir2hdl::schedule;
use std::collections::BTreeMap;

/// A mistake that somebody could make in a generator, or by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mistake {
    /// `a - b` as `b - a`, both sides of a choice, another operator.
    Operand,
    /// Zeros for copies of the sign.
    Sign,
    /// A slice one bit lower or higher.
    Slice,
    /// A value taken from before a register instead of behind it.
    Register,
    /// One bit of a table's entry.
    Entry,
    /// Reset value, level of the reset, enable.
    Reset,
    /// One bit of a constant.
    Constant,
}

/// Conflicts that ABC's solver may meet.
const CONFLICTS: u32 = 100_000;

const MISTAKES: [Mistake; 7] = [
    Mistake::Operand,
    Mistake::Sign,
    Mistake::Slice,
    Mistake::Register,
    Mistake::Entry,
    Mistake::Reset,
    Mistake::Constant,
];

/// All texts that differ from a line by one replacement of `from`.
fn each(line: &str, from: &str, to: &str) -> Vec<String> {
    let places = line.match_indices(from);
    places.map(|(at, _)| format!("{}{to}{}", &line[..at], &line[at + from.len()..])).collect()
}

/// The parts of `before A <operator> B; after`, if it stands outside of brackets.
fn split<'a>(line: &'a str, start: &str, operator: &str) -> Option<(&'a str, &'a str, &'a str, &'a str)> {
    let begin = line.find(start)? + start.len();
    let end = begin + line[begin..].find(';')?;
    let (mut depth, bytes) = (0, line.as_bytes());
    for at in begin..end {
        match bytes[at] {
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => depth -= 1,
            _ if depth == 0 && line[at..end].starts_with(operator) => {
                return Some((&line[..begin], &line[begin..at], &line[at + operator.len()..end], &line[end..]));
            }
            _ => {}
        }
    }
    None
}

/// The numbers of `[7:3]` or `(7 downto 3)` at a place, and where they end.
fn bounds(text: &str) -> Option<(u32, &'static str, u32, usize)> {
    let digits = |t: &str| t.len() - t.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let n = digits(text);
    let rest = &text[n..];
    let between = [":", " downto "].into_iter().find(|b| rest.starts_with(b))?;
    let m = digits(&rest[between.len()..]);
    let low = &rest[between.len()..between.len() + m];
    Some((text[..n].parse().ok()?, between, low.parse().ok()?, n + between.len() + m))
}

/// The line with this mistake, in every way that it can be made there.
fn mistaken(line: &str, mistake: Mistake, language: Language) -> Vec<String> {
    let verilog = language == Language::Verilog;
    let (code, comment) = line.split_at(line.find(if verilog { "//" } else { "--" }).unwrap_or(line.len()));
    let start = if verilog && !code.contains("<=") { " = " } else { " <= " };
    let assigns = code.contains(start);
    let is_entry = code.contains(if verilog { ": rom" } else { "=> return" });
    let mut out: Vec<String> = Vec::new();
    match mistake {
        Mistake::Operand if assigns => {
            if let Some((before, a, b, after)) = split(code, start, " - ") {
                out.push(format!("{before}{b} - {a}{after}"));
                out.push(format!("{before}{a} + {b}{after}"));
            }
            if let Some((before, a, b, after)) = split(code, start, " + ") {
                out.push(format!("{before}{a} - {b}{after}"));
            }
            if let Some((before, cond, both, after)) = split(code, start, " ? ")
                && let Some((yes, no)) = both.split_once(" : ")
            {
                out.push(format!("{before}{cond} ? {no} : {yes}{after}"));
            }
            if let Some((before, yes, rest, after)) = split(code, start, " when ")
                && let Some((cond, no)) = rest.split_once(" else ")
            {
                out.push(format!("{before}{no} when {cond} else {yes}{after}"));
            }
            if verilog {
                out.extend([(" & ", " | "), (" | ", " ^ "), (" ^ ", " & ")].iter().flat_map(|(a, b)| each(code, a, b)));
            } else {
                out.extend(
                    [(" and ", " or "), (" or ", " xor "), (" xor ", " and ")]
                        .iter()
                        .flat_map(|(a, b)| each(code, a, b)),
                );
            }
        }
        Mistake::Sign if assigns && verilog => {
            // `{3{x[5]}}` and `{x[5], x}`.
            for (at, _) in code.match_indices('{') {
                let inside = &code[at + 1..];
                let end = inside.find(['}', ',']).unwrap_or(0);
                let first = &inside[..end];
                let bit = first.ends_with(']') && !first.contains(':') && !first.contains('{');
                if bit {
                    out.push(format!("{}1'b0{}", &code[..=at], &inside[end..]));
                }
            }
        }
        Mistake::Sign if assigns => {
            for (at, _) in code.match_indices(" => ") {
                if let Some(end) = code[at..].find("))") {
                    out.push(format!("{} => '0'{}", &code[..at], &code[at + end + 1..]));
                }
            }
        }
        Mistake::Slice if assigns => {
            let begin = code.find(start).unwrap_or(0);
            for (at, _) in code[begin..].match_indices(if verilog { '[' } else { '(' }) {
                let inside = begin + at + 1;
                let Some((high, between, low, length)) = bounds(&code[inside..]) else { continue };
                let mut push = |high: u32, low: u32| {
                    out.push(format!("{}{high}{between}{low}{}", &code[..inside], &code[inside + length..]));
                };
                push(high + 1, low + 1);
                if low > 0 {
                    push(high - 1, low - 1);
                }
            }
        }
        Mistake::Register if code.contains(" <= ") || code.contains("model_out") => {
            for (at, _) in code.match_indices("_s") {
                let digits: String = code[at + 2..].chars().take_while(char::is_ascii_digit).collect();
                let Ok(stage) = digits.parse::<u32>() else { continue };
                let after = &code[at + 2 + digits.len()..];
                if stage > 1 {
                    out.push(format!("{}_s{}{after}", &code[..at], stage - 1));
                }
                out.push(format!("{}{after}", &code[..at]));
            }
            // Not the name on the left, which is another line's.
            let left = code[..code.find(start).unwrap_or(0)].to_owned();
            out.retain(|l| l.starts_with(&left));
        }
        Mistake::Entry if is_entry => {
            let open = if verilog { "'h" } else { "return \"" };
            let begin = code.find(open).map_or(0, |i| i + open.len());
            for (i, c) in code.char_indices().filter(|(i, _)| *i >= begin) {
                let Some(digit) = c.to_digit(16).filter(|_| c != '"') else { break };
                let other = char::from_digit(digit ^ 1, 16).unwrap_or('0');
                out.push(format!("{}{other}{}", &code[..i], &code[i + 1..]));
            }
        }
        Mistake::Reset => {
            if code.contains("<= ") {
                for (from, to) in [("'d0;", "'d1;"), ("<= 1'b0;", "<= 1'b1;"), ("(others => '0')", "(others => '1')")] {
                    out.extend(each(code, from, to));
                }
                if !verilog {
                    out.extend(each(code, "<= '0';", "<= '1';"));
                }
            }
            for (from, to) in [
                ("if (rst)", "if (!rst)"),
                ("if (!rst_n)", "if (rst_n)"),
                ("(ce)", "(!ce)"),
                ("(ce)", "(1'b1)"),
                ("rst = '1'", "rst = '0'"),
                ("ce = '1'", "ce = '0'"),
                ("<= valid_in;", "<= 1'b1;"),
            ] {
                out.extend(each(code, from, to));
            }
        }
        Mistake::Constant if assigns && !is_entry => {
            let begin = code.find(start).unwrap_or(0);
            let quote = if verilog { "'b" } else { "\"" };
            for (at, _) in code[begin..].match_indices(quote) {
                let from = begin + at + quote.len();
                for (i, c) in code[from..].char_indices() {
                    let other = match c {
                        '0' => '1',
                        '1' => '0',
                        _ => break,
                    };
                    out.push(format!("{}{other}{}", &code[..from + i], &code[from + i + 1..]));
                }
            }
        }
        _ => {}
    }
    out.retain(|l| l != code);
    out.into_iter().map(|l| l + comment).collect()
}

/// The text with one such mistake, if there is a place for it, and what was changed.
pub(crate) fn mutated(
    text: &str,
    mistake: Mistake,
    language: Language,
    rng: &mut SplitMix,
) -> Option<(String, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut places: Vec<(usize, String)> = Vec::new();
    // What only tells lint tools that bits are unused has no meaning that could be wrong.
    for (i, line) in lines.iter().enumerate().filter(|(_, line)| !line.contains("unused_")) {
        places.extend(mistaken(line, mistake, language).into_iter().map(|new| (i, new)));
    }
    if places.is_empty() {
        return None;
    }
    let (at, new) = places.swap_remove(rng.below(places.len() as u64) as usize);
    let what = format!("{}\n  -> {}", lines[at].trim(), new.trim());
    let mut out: Vec<&str> = lines;
    out[at] = &new;
    Some((out.join("\n") + "\n", what))
}

/// A program and its hardware, of every kind.
fn subject(seed: u64) -> (String, Model, Case, Language) {
    let mut rng = SplitMix::new(seed);
    let (small, large) = (["tiny_ops", "edge_kif", "bit_logic"], ["lut_heavy", "sort_topk", "jet_mlp"]);
    let (name, model) = match rng.below(40) {
        // Each costs as much as ten to fifty small ones.
        0 => {
            let name = large[rng.below(large.len() as u64) as usize];
            (name.to_owned(), read_model(name))
        }
        1..18 => {
            let name = small[rng.below(small.len() as u64) as usize];
            (name.to_owned(), read_model(name))
        }
        _ => (format!("random {seed}"), Recipe::seeded(Profile::TINY, 16, seed).build()),
    };
    // A large program has no room for the effects of optimisation: those are looked at in the random ones.
    let level = if name.starts_with("random") { rng.below(3) as u8 } else { rng.below(2) as u8 };
    let stages = rng.below(4) as u32;
    let controlled = stages > 0;
    let mut coin = || rng.below(2) == 0;
    let data = coin();
    let reset = ResetOptions { asynchronous: coin(), active_high: true, data };
    let valid = controlled && (coin() || !data);
    let options = Options {
        top: "dut".into(),
        valid,
        enable: controlled && coin(),
        reset: (controlled && coin()).then_some(reset),
        ..Options::default()
    };
    let language = if coin() { Language::Verilog } else { Language::Vhdl };
    let built = optimised(&model, level);
    let schedule = schedule::random(&built, stages, false, seed);
    let case = Case::optimised(&model, &built, &schedule, &options, 200, seed);
    (format!("{name} -O{level} {stages} stages {language:?}"), model, case, language)
}

/// Runs a testbench of `prove`: whether it shows a difference. Nothing if the simulator is not there.
fn shown(language: Language, text: &str, bench: &str) -> Option<bool> {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).expect("a file in it");
    let steps: &[(&str, &[&str])] = match language {
        Language::Verilog | Language::SystemVerilog => {
            write("dut.v", text);
            write("tb.v", bench);
            &[("iverilog", &["-g2001", "-o", "tb.vvp", "dut.v", "tb.v"]), ("vvp", &["-n", "tb.vvp"])]
        }
        Language::Vhdl => {
            write("dut.vhd", text);
            write("tb.vhd", bench);
            &[
                ("ghdl", &["-a", "--std=08", "dut.vhd", "tb.vhd"]),
                ("ghdl", &["--elab-run", "--std=08", "tb", "--ieee-asserts=disable"]),
            ]
        }
    };
    let mut said = String::new();
    for (k, (tool, args)) in steps.iter().enumerate() {
        let output = run(dir.path(), tool, args)?;
        said = [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat();
        let is_expected = k + 1 < steps.len() || !said.contains("MISMATCH");
        assert_eq!(output.status.success(), is_expected, "{tool}: {said}\n{text}\n{bench}");
    }
    match (said.contains("MISMATCH"), said.contains("MATCH")) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        _ => panic!("the testbench does not say: {said}\n{bench}"),
    }
}

/// Returns `true` if some simulator finds a wrong row where samples are run with random stalls and resets.
fn found_wrong(case: &Case, language: Language, text: &str) -> Option<bool> {
    let simulator = *simulators(language).iter().find(|s| s.name() != "verilator")?;
    let standard = if language == Language::Vhdl { "08" } else { "-" };
    let design = vec![(format!("dut.{}", language.extension()), text.as_bytes().to_vec())];
    let report = simulate(simulator, language, standard, &design, std::slice::from_ref(&case.cycles));
    Some(report.unwrap_or_else(|e| panic!("{e}\n{text}")).wrong_rows > 0)
}

/// Mutants by what became of them. `ALIR2HDL_MUTANTS` says how many are made; `scripts/mutants.sh` makes a thousand.
#[test]
fn sim_verdicts_about_mutants_are_confirmed() {
    let wanted: usize = std::env::var("ALIR2HDL_MUTANTS").ok().and_then(|n| n.parse().ok()).unwrap_or(40);
    let mut tally: BTreeMap<(Mistake, &str), usize> = BTreeMap::new();
    let first = std::env::var("ALIR2HDL_MUTANTS_FROM").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let (mut made, mut seed, mut wrong) = (0, first, Vec::new());
    while made < wanted {
        seed += 1;
        let (name, model, case, language) = subject(seed);
        let mistake = MISTAKES[seed as usize % MISTAKES.len()];
        let good = String::from_utf8(case.text(language).1).expect("text");
        let Some((text, what)) = mutated(&good, mistake, language, &mut SplitMix::new(seed)) else { continue };
        // What no tool would read is no mutant.
        let Ok(rtl) = rtl::read(language, &text, None) else { continue };
        made += 1;
        let mut request = Request { latency: Some(case.netlist.interface.latency), ..Request::default() };
        if wanted > 100 {
            // Many: none may take the time of a hundred others.
            request.limits.sat_steps /= 30;
            eprintln!("{seed}: {name}, {mistake:?}");
        }
        let report = equiv::prove(&model, &rtl, &request, Box::new(Embedded)).0;
        let told = format!("{seed}: {name}, {mistake:?}: {what}\n  {:?}", report.verdict);
        let (kind, confirmed) = match &report.verdict {
            Verdict::Differs { counterexample: Some(c), .. } => {
                let bench = bench::testbench(language, &model, &rtl, &request.names, report.latency, c);
                ("differs, by the testbench", shown(language, &text, &bench.expect("a testbench")))
            }
            Verdict::Differs { counterexample: None, .. } => {
                ("differs, by a run with stalls and resets", found_wrong(&case, language, &text))
            }
            Verdict::Proved => match gates::equal(&model, &case.netlist.interface, language, &text, CONFLICTS) {
                Some(Opinion::Open) => ("proved, not decided by ABC", None),
                // ghdl 2.0 drops defaults of cases when it makes Verilog for yosys: where that road calls the file
                // before the mistake different as well, it says nothing about this one, and a simulator is asked.
                Some(Opinion::Different)
                    if gates::equal(&model, &case.netlist.interface, language, &good, CONFLICTS)
                        == Some(Opinion::Different) =>
                {
                    (
                        "proved, by a run (yosys misreads it before the mistake too)",
                        found_wrong(&case, language, &text).map(|wrong| !wrong),
                    )
                }
                opinion => ("proved, by yosys and ABC", opinion.map(|o| o == Opinion::Equal)),
            },
            Verdict::Unknown { .. } => ("unknown", None),
        };
        if wanted > 100 {
            eprintln!("{told}: {kind}: {confirmed:?}");
        }
        *tally.entry((mistake, kind)).or_default() += 1;
        if confirmed == Some(false) || kind == "unknown" {
            wrong.push(format!("{told}\n{text}"));
        }
    }
    eprintln!("{made} mutants of {seed} seeds");
    for ((mistake, kind), count) in &tally {
        eprintln!("  {mistake:?}: {count} {kind}");
    }
    let differs: usize = tally.iter().filter(|t| t.0.1.starts_with("differs")).map(|t| t.1).sum();
    assert!(wrong.is_empty(), "{} verdicts are not confirmed:\n{}", wrong.len(), wrong.join("\n"));
    assert!(differs * 2 > made, "{differs} of {made} differ: these are no mutants");
}

#[test]
fn sim_yosys_and_abc_agree_with_prove() {
    for (name, stages, language) in [
        ("tiny_ops", 0, Language::Verilog),
        ("tiny_ops", 2, Language::Vhdl),
        ("edge_kif", 3, Language::Verilog),
        ("bit_logic", 0, Language::Vhdl),
        ("bit_logic", 2, Language::Verilog),
        ("11", 1, Language::Verilog),
        ("12", 2, Language::Vhdl),
        ("13", 3, Language::Verilog),
        ("14", 0, Language::Verilog),
    ] {
        let model = match name.parse() {
            Ok(seed) => Recipe::seeded(Profile::TINY, 20, seed).build(),
            Err(_) => read_model(name),
        };
        let built = optimised(&model, 1);
        let schedule = schedule::random(&built, stages, false, 5);
        let options = Options { top: "dut".into(), enable: stages > 1, ..Options::default() };
        let case = Case::optimised(&model, &built, &schedule, &options, 1, 1);
        let interface = &case.netlist.interface;
        let good = String::from_utf8(case.text(language).1).expect("text");
        let (bad, what) = mutated(&good, Mistake::Operand, language, &mut SplitMix::new(3)).expect("an operand");
        for text in [good, bad] {
            let rtl = rtl::read(language, &text, None).expect("our subset");
            let request = Request { latency: Some(interface.latency), ..Request::default() };
            let ours = equiv::prove(&model, &rtl, &request, Box::new(Embedded)).0.verdict;
            let Some(theirs) = gates::equal(&model, interface, language, &text, CONFLICTS) else { return };
            let agreed = match ours {
                Verdict::Proved => theirs == Opinion::Equal,
                Verdict::Differs { .. } => theirs == Opinion::Different,
                Verdict::Unknown { .. } => false,
            };
            assert!(agreed, "{name}, {what}: ours {ours:?}, yosys and ABC: {theirs:?}");
        }
    }
}
