//! Golden text: what users see, as reviewed files.
//!
//! `hdl_tests/golden/NAME.v`, `.sv` and `.vhd` are the generated RTL of small programs: one for each kind of operation,
//! and one for each shape of module. A test compares them; `ALIR2HDL_BLESS=1` writes them again, to be reviewed like
//! any other change. Each is also given to every tool and simulated, so that nobody reviews a text that is wrong.

use crate::harness::{Case, assert_equal_everywhere};
use crate::lint::{LANGUAGES, assert_silent};
use alir2hdl::emit::{self, Language, RomStyle};
use alir2hdl::ir::{BinaryBits, Builder, Model, Op, Output, Table, Term, UnaryBits, ValueId};
use alir2hdl::netlist::{Options, Ports, ResetOptions, uses};
use alir2hdl::num::{Code, Interval};
use alir2hdl::schedule::{Goal, Schedule, default_delay, schedule};
use num_bigint::BigInt;
use std::path::{Path, PathBuf};

/// A program in the making.
struct Program {
    builder: Builder,
}

fn codes(min: i64, max: i64, frac: i32) -> Interval {
    Interval::new(min, max, frac)
}

impl Program {
    fn with_inputs(inputs: &[Interval]) -> (Program, Vec<ValueId>) {
        let mut builder = Builder::new(vec![0; inputs.len()]);
        let read = |(input, interval): (u32, &Interval)| builder.op(Op::Input { input }, interval.clone());
        let values = (0..).zip(inputs).map(read).collect();
        (Program { builder }, values)
    }

    fn op(&mut self, op: Op, interval: Interval) -> ValueId {
        self.builder.op(op, interval)
    }

    fn table(&mut self, entries: Vec<i32>, out: Interval) -> alir2hdl::ir::TableId {
        self.builder.table(Table { entries, out, hash: String::new(), inp_width: 0 })
    }

    fn outputs(mut self, values: &[ValueId]) -> Model {
        for &value in values {
            self.builder.output(Output { source: Some(value), shift: 0, neg: false });
        }
        self.builder.finish().expect("a valid program")
    }
}

/// A signed input of eight bits, three of them fractional, and an unsigned one of five.
fn signed_and_unsigned() -> (Program, ValueId, ValueId) {
    let (program, inputs) = Program::with_inputs(&[codes(-128, 127, 3), codes(0, 31, 0)]);
    (program, inputs[0], inputs[1])
}

fn quantise() -> Model {
    let (mut p, a, b) = signed_and_unsigned();
    let floor = p.op(Op::Quantise { x: a, shift: 0 }, codes(-16, 15, 0));
    let wrap = p.op(Op::Quantise { x: a, shift: 0 }, codes(-4, 3, 2));
    let finer = p.op(Op::Quantise { x: b, shift: 1 }, codes(0, 255, 2));
    p.outputs(&[floor, wrap, finer])
}

fn constant() -> Model {
    let (mut p, a, _) = signed_and_unsigned();
    let c = p.op(Op::Const { value: Code::from(-5) }, codes(-5, -5, 1));
    p.outputs(&[a, c])
}

fn negate() -> Model {
    let (mut p, a, b) = signed_and_unsigned();
    let x = p.op(Op::Neg { x: a }, codes(-127, 128, 3));
    let y = p.op(Op::Neg { x: b }, codes(-31, 0, 0));
    p.outputs(&[x, y])
}

fn add() -> Model {
    let (mut p, a, b) = signed_and_unsigned();
    let aligned = p.op(Op::Add { a, b, shift: 0 }, codes(-128, 127 + 248, 3));
    let shifted = p.op(Op::Add { a, b, shift: -2 }, codes(-128, 127 + 62, 3));
    // The operands share no bit: a concatenation.
    let disjoint = p.op(Op::Add { a: b, b, shift: 5 }, codes(0, 31 * 33, 0));
    p.outputs(&[aligned, shifted, disjoint])
}

fn subtract() -> Model {
    let (mut p, a, b) = signed_and_unsigned();
    let x = p.op(Op::Sub { a, b, shift: 1 }, codes(-128 - 496, 127, 3));
    let y = p.op(Op::Sub { a: b, b: a, shift: 0 }, codes(-127, 248 + 128, 3));
    p.outputs(&[x, y])
}

fn add_constant() -> Model {
    let (mut p, a, b) = signed_and_unsigned();
    let plus = p.op(Op::AddConst { x: a, value: Code::from(21), shift: 3 }, codes(-107, 148, 3));
    let minus = p.op(Op::AddConst { x: b, value: Code::from(-3), shift: 1 }, codes(-3, 59, 1));
    p.outputs(&[plus, minus])
}

fn relu() -> Model {
    let (mut p, a, _) = signed_and_unsigned();
    let x = p.op(Op::Relu { x: a }, codes(0, 127, 3));
    let cut = p.op(Op::Relu { x: a }, codes(0, 7, 1));
    p.outputs(&[x, cut])
}

fn multiplexer() -> Model {
    let (mut p, a, b) = signed_and_unsigned();
    let sign = p.op(Op::Mux { cond: a, on_true: b, on_false: a, shift: 0 }, codes(-128, 248, 3));
    let top = p.op(Op::Mux { cond: b, on_true: a, on_false: b, shift: 1 }, codes(-128, 496, 3));
    p.outputs(&[sign, top])
}

fn multiply() -> Model {
    let (mut p, a, b) = signed_and_unsigned();
    let signed = p.op(Op::Mul { a, b: a }, codes(-128 * 127, 128 * 128, 6));
    let mixed = p.op(Op::Mul { a, b }, codes(-128 * 31, 127 * 31, 3));
    let unsigned = p.op(Op::Mul { a: b, b }, codes(0, 31 * 31, 0));
    p.outputs(&[signed, mixed, unsigned])
}

fn lookup() -> Model {
    let (mut p, inputs) = Program::with_inputs(&[codes(-8, 7, 2), codes(0, 15, 0)]);
    let cubes = p.table((-8..8).map(|x: i32| x * x * x / 8).collect(), codes(-64, 63, 3));
    let short = p.table(vec![3, 1, 4, 1, 5, 9, 2, 6], codes(0, 9, 0));
    let x = p.op(Op::Lookup { x: inputs[0], table: cubes, base: Code::from(-8) }, codes(-64, 63, 3));
    let y = p.op(Op::Lookup { x: inputs[1], table: short, base: Code::from(4) }, codes(0, 9, 0));
    p.outputs(&[x, y])
}

fn unary_bits() -> Model {
    let (mut p, a, b) = signed_and_unsigned();
    let not_signed = p.op(Op::Unary { op: UnaryBits::Not, x: a }, codes(-128, 127, 3));
    let not_unsigned = p.op(Op::Unary { op: UnaryBits::Not, x: b }, codes(0, 31, 0));
    let any = p.op(Op::Unary { op: UnaryBits::Any, x: a }, codes(0, 1, 0));
    let all = p.op(Op::Unary { op: UnaryBits::All, x: b }, codes(0, 1, 0));
    p.outputs(&[not_signed, not_unsigned, any, all])
}

fn binary_bits() -> Model {
    let (mut p, a, b) = signed_and_unsigned();
    let all = [BinaryBits::And, BinaryBits::Or, BinaryBits::Xor];
    let values = all.map(|op| p.op(Op::Binary { op, a, b, shift: 1 }, codes(-512, 511, 3)));
    p.outputs(&values)
}

fn sum() -> Model {
    let (mut p, a, b) = signed_and_unsigned();
    let term = |value, shift, neg| Term { value, shift, neg };
    let terms = vec![term(a, 0, false), term(b, 1, true), term(a, 2, false), term(b, 0, false)];
    let x = p.op(Op::Sum { terms: terms.into() }, codes(-128 * 5 - 248, 127 * 5 + 248, 3));
    p.outputs(&[x])
}

/// A chain with something to cut into stages, a bit that nobody reads, and a negated and a constant output.
fn chain() -> Model {
    let (mut p, a, b) = signed_and_unsigned();
    let total = p.op(Op::Add { a, b, shift: 0 }, codes(-128, 127 + 248, 3));
    let product = p.op(Op::Mul { a: total, b }, codes(-128 * 31, 375 * 31, 3));
    let positive = p.op(Op::Relu { x: product }, codes(0, 375 * 31, 3));
    let coarse = p.op(Op::Quantise { x: positive, shift: 0 }, codes(0, 375 * 31 / 8, 0));
    p.builder.output(Output { source: Some(coarse), shift: 0, neg: true });
    p.builder.output(Output { source: None, shift: 0, neg: false });
    p.outputs(&[total])
}

/// Values far beyond a machine word.
fn wide() -> Model {
    let range = |bits: u32, frac| {
        let beyond = BigInt::from(1) << bits;
        Interval::new(-beyond.clone(), beyond - 1, frac)
    };
    let (mut p, inputs) = Program::with_inputs(&[range(99, 40), range(69, 0)]);
    let total = p.op(Op::Add { a: inputs[0], b: inputs[1], shift: 60 }, range(170, 40));
    let product = p.op(Op::Mul { a: inputs[0], b: inputs[1] }, range(170, 40));
    p.outputs(&[total, product])
}

/// Nothing but zeros: a module without outputs.
fn zero() -> Model {
    let (mut p, _, _) = signed_and_unsigned();
    p.builder.output(Output { source: None, shift: 0, neg: false });
    p.outputs(&[])
}

/// A table with a register behind it.
fn table() -> Model {
    let (mut p, inputs) = Program::with_inputs(&[codes(0, 15, 0)]);
    let squares = p.table((0..16).map(|x: i32| x * x).collect(), codes(0, 225, 0));
    let x = p.op(Op::Lookup { x: inputs[0], table: squares, base: Code::from(0) }, codes(0, 225, 0));
    p.outputs(&[x])
}

/// A table whose bits take several pieces of four inputs each, and one that does not look at all bits of its address.
fn large_tables() -> Model {
    let (mut p, inputs) = Program::with_inputs(&[codes(-32, 31, 0), codes(0, 127, 0)]);
    let cubes = p.table((-32..32).map(|x: i32| x * x * x / 400).collect(), codes(-82, 81, 0));
    let halves = p.table((0..128).map(|x: i32| if x / 2 % 9 > 3 { 5 } else { 2 }).collect(), codes(0, 7, 0));
    let x = p.op(Op::Lookup { x: inputs[0], table: cubes, base: Code::from(-32) }, codes(-82, 81, 0));
    let y = p.op(Op::Lookup { x: inputs[1], table: halves, base: Code::from(0) }, codes(0, 7, 0));
    p.outputs(&[x, y])
}

/// A golden file.
fn case(name: &str, model: &Model, stages: u32, choose: impl FnOnce(&mut Options, &mut emit::Options)) -> Case {
    let mut options = Options { top: name.to_owned(), ..Options::default() };
    let mut emit = emit::Options::default();
    choose(&mut options, &mut emit);
    let schedule = match stages {
        0 => Schedule::combinational(model.nodes().len()),
        _ => schedule(model, default_delay(model), &Goal::stages(stages), &uses(model)).expect("possible").schedule,
    };
    Case { emit, ..Case::new(model, &schedule, &options, 40, 1) }
}

fn cases() -> Vec<Case> {
    let operation = |name: &str, model: Model| case(name, &model, 0, |_, _| {});
    let mut cases = vec![
        operation("op_quantise", quantise()),
        operation("op_const", constant()),
        operation("op_negate", negate()),
        operation("op_add", add()),
        operation("op_subtract", subtract()),
        operation("op_add_const", add_constant()),
        operation("op_relu", relu()),
        operation("op_mux", multiplexer()),
        operation("op_multiply", multiply()),
        operation("op_lookup", lookup()),
        operation("op_unary_bits", unary_bits()),
        operation("op_binary_bits", binary_bits()),
        operation("op_sum", sum()),
    ];
    let reset = |asynchronous, data| Some(ResetOptions { asynchronous, active_high: true, data });
    cases.extend([
        case("pipeline", &chain(), 3, |_, _| {}),
        case("split_ports", &chain(), 1, |o, _| o.ports = Ports::Split),
        case("valid_enable_reset", &chain(), 2, |o, _| {
            (o.valid, o.enable, o.reset) = (true, true, reset(false, false));
        }),
        case("async_reset_data", &chain(), 2, |o, _| (o.valid, o.reset) = (true, reset(true, true))),
        case("stage_modules", &chain(), 3, |o, e| {
            (o.enable, e.split_above) = (true, 0);
        }),
        case("attributes", &chain(), 2, |o, e| {
            let low = ResetOptions { asynchronous: true, active_high: false, data: true };
            (o.enable, o.reset, o.names.reset) = (true, Some(low), "ap_rst_n".into());
            (e.shreg_extract, e.keep_names) = (Some(false), true);
        }),
        case("attributes_of_stages", &table(), 2, |_, e| {
            (e.shreg_extract, e.keep_names, e.split_above, e.rom_style) = (Some(true), true, 0, RomStyle::Logic);
        }),
        case("wide", &wide(), 1, |_, _| {}),
        case("zero", &zero(), 0, |_, _| {}),
        case("rom_logic", &table(), 1, |_, e| e.rom_style = RomStyle::Logic),
        case("multiplier_blocks", &multiply(), 1, |_, e| (e.use_dsp, e.keep_names) = (true, true)),
        case("rom_block", &table(), 1, |_, e| e.rom_style = RomStyle::Block),
        case("rom_pieces", &large_tables(), 1, |_, e| e.rom_style = RomStyle::Pieces { table_inputs: 4 }),
    ]);
    cases
}

fn golden_path(case: &Case, language: Language) -> PathBuf {
    let (file, _) = case.text(language);
    Path::new(env!("CARGO_MANIFEST_DIR")).join("hdl_tests/golden").join(file)
}

#[test]
fn text_is_as_reviewed() {
    let bless = std::env::var_os("ALIR2HDL_BLESS").is_some();
    let mut changed = Vec::new();
    for case in cases() {
        for language in LANGUAGES {
            let (path, (_, text)) = (golden_path(&case, language), case.text(language));
            if bless {
                std::fs::write(&path, &text).expect("the folder of golden files");
            } else if std::fs::read(&path).ok().as_ref() != Some(&text) {
                let found = String::from_utf8_lossy(&text).into_owned();
                changed.push(format!("{} is not what is written now:\n{found}", path.display()));
            }
        }
    }
    assert!(changed.is_empty(), "{}\nALIR2HDL_BLESS=1 takes the new text; review it", changed.join("\n"));
}

/// Returns the page with the block below each line `<!-- golden: FILE -->` replaced by that golden file.
fn page_of_golden_files(page: &str) -> String {
    let mut out = String::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        out += &format!("{line}\n");
        let Some(file) = line.strip_prefix("<!-- golden: ").and_then(|rest| rest.strip_suffix(" -->")) else {
            continue;
        };
        if lines.peek().is_some_and(|line| line.starts_with("```")) {
            // What stood there before.
            let _ = lines.by_ref().skip(1).find(|line| *line == "```");
        }
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("hdl_tests/golden").join(file);
        let text = std::fs::read_to_string(golden).expect("a golden file");
        let language = match golden_extension(file) {
            "vhd" => "vhdl",
            "sv" => "systemverilog",
            _ => "verilog",
        };
        out += &format!("```{language}\n{}\n```\n", text.trim_end());
    }
    out
}

fn golden_extension(file: &str) -> &str {
    file.rsplit_once('.').map_or("", |(_, extension)| extension)
}

#[test]
fn the_page_on_style_shows_what_is_written() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rtl-style.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let expected = page_of_golden_files(&page);
    if std::env::var_os("ALIR2HDL_BLESS").is_some() {
        std::fs::write(&path, expected).expect("the page");
    } else {
        assert!(
            page == expected && page.matches("```").count() == 6,
            "ALIR2HDL_BLESS=1 writes {} again",
            path.display()
        );
    }
}

#[test]
fn no_golden_file_is_left_over() {
    let cases = cases();
    let expected: Vec<PathBuf> =
        LANGUAGES.iter().flat_map(|&language| cases.iter().map(move |case| golden_path(case, language))).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("hdl_tests/golden");
    for entry in std::fs::read_dir(folder).expect("the folder of golden files") {
        let path = entry.expect("an entry").path();
        assert!(expected.contains(&path), "{} belongs to no test", path.display());
    }
}

#[test]
fn sim_golden_files_are_silent_in_every_tool() {
    assert_silent(&cases());
}

#[test]
fn sim_golden_files_are_equal_in_every_simulator() {
    let with_outputs: Vec<Case> = cases().into_iter().filter(|case| case.netlist.interface.top != "zero").collect();
    assert_equal_everywhere(&with_outputs);
}
