//! LLVLIR by the golden data: both forms, every reason for refusing, the interpreter.

use alir2hdl::diag::Place;
use alir2hdl::interp::{LookupMiss, golden_steps};
use alir2hdl::llvlir::{self, Limits, Program, bytes, golden, text};
use num_bigint::{BigInt, BigUint};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/llvlir").join(name)
}

/// Lines of JSON, plain or gzip.
fn lines(name: &str) -> Vec<serde_json::Value> {
    let raw = fs::read(data(name)).unwrap();
    let mut text = String::new();
    match raw.starts_with(&[0x1f, 0x8b]) {
        true => flate2::read::GzDecoder::new(raw.as_slice()).read_to_string(&mut text).unwrap(),
        false => raw.as_slice().read_to_string(&mut text).unwrap(),
    };
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|k| u8::from_str_radix(&text[2 * k..2 * k + 2], 16).unwrap()).collect()
}

fn field<'a>(line: &'a serde_json::Value, name: &str) -> &'a str {
    line[name].as_str().unwrap_or_else(|| panic!("{name} of {line}"))
}

fn words(line: &serde_json::Value, name: &str) -> Vec<BigUint> {
    let parse = |word: &serde_json::Value| match word.as_str().unwrap() {
        "" => BigUint::ZERO,
        digits => BigUint::parse_bytes(digits.as_bytes(), 16).unwrap(),
    };
    line[name].as_array().unwrap().iter().map(parse).collect()
}

/// A program from its text form, compared with its byte form in every direction.
fn both_forms(line: &serde_json::Value) -> Program {
    let name = field(line, "name");
    let program =
        text::read(field(line, "text").as_bytes(), Limits::default()).unwrap_or_else(|p| panic!("{name}: {p:?}"));
    let raw = hex(field(line, "bytes"));
    assert_eq!(bytes::write(&program), raw, "{name}: text to bytes");
    let again = llvlir::read(&raw, Limits::default()).unwrap_or_else(|p| panic!("{name}: {p:?}"));
    assert_eq!(again, program, "{name}");
    assert_eq!(text::write(&again), field(line, "text"), "{name}: bytes to text");
    program
}

/// The elements of a packed word.
fn elements(word: &BigUint, port: &[llvlir::program::Element]) -> Vec<BigInt> {
    let mut at = 0u64;
    let mut all = Vec::new();
    for element in port {
        let mask = (BigUint::from(1u8) << element.width) - 1u8;
        all.push(BigInt::from((word >> at) & mask));
        at += u64::from(element.width);
    }
    assert!(word.bits() <= at, "bits above the port");
    all
}

fn packed(elements: &[BigInt], port: &[llvlir::program::Element]) -> BigUint {
    let mut word = BigUint::ZERO;
    let mut at = 0u64;
    for (element, port) in elements.iter().zip(port) {
        let modulus = BigInt::from(1) << port.width;
        let pattern = ((element % &modulus) + &modulus) % &modulus;
        let half: BigInt = &modulus >> 1u32;
        assert!(if port.signed { *element >= -&half && *element < half } else { pattern == *element });
        word |= pattern.to_biguint().unwrap() << at;
        at += u64::from(port.width);
    }
    word
}

fn check(name: &str, program: &Program, inputs: &[BigUint], outputs: &[BigUint]) {
    let (inp, out) = (program.input_elements(), program.output_elements());
    assert_eq!(inputs.len(), outputs.len());
    assert!(!inputs.is_empty(), "{name}");
    for (k, (input, output)) in inputs.iter().zip(outputs).enumerate() {
        let got = packed(&golden::run(program, &elements(input, &inp)), &out);
        assert_eq!(got, *output, "{name}, sample {k}:\n{}", text::write(program));
    }
}

fn check_lines(name: &str, expected: usize) {
    let lines = lines(name);
    assert_eq!(lines.len(), expected);
    for line in &lines {
        let program = both_forms(line);
        let bits = |port: Vec<llvlir::program::Element>| port.iter().map(|e| u64::from(e.width)).sum::<u64>();
        assert_eq!(bits(program.input_elements()), line["inp_bits"].as_u64().unwrap());
        assert_eq!(bits(program.output_elements()), line["out_bits"].as_u64().unwrap());
        check(field(line, "name"), &program, &words(line, "inp"), &words(line, "out"));
    }
}

#[test]
fn every_row_means_what_the_contract_says() {
    check_lines("rows/rows.jsonl.gz", 1798);
}

#[test]
fn random_programs_mean_what_the_contract_says() {
    check_lines("random/random.jsonl.gz", 60);
}

#[test]
fn spellings_are_read_and_written_in_the_canonical_one() {
    let lines = lines("rows/spellings.jsonl");
    assert!(!lines.is_empty());
    for line in lines {
        let program = both_forms(&line);
        let spelt = text::read(field(&line, "spelt").as_bytes(), Limits::default()).unwrap();
        assert_eq!(spelt, program, "{}", field(&line, "name"));
        check(field(&line, "name"), &program, &words(&line, "inp"), &words(&line, "out"));
    }
}

#[test]
fn real_programs_mean_what_the_contract_says() {
    for folder in real_programs() {
        let raw = fs::read(folder.join("program.llvlir")).unwrap();
        let spelt = fs::read(folder.join("program.llvlirs")).unwrap();
        let program = llvlir::read(&raw, Limits::default()).unwrap();
        assert_eq!(text::write(&program).as_bytes(), spelt);
        assert_eq!(bytes::write(&llvlir::read(&spelt, Limits::default()).unwrap()), raw);
        check(&folder.display().to_string(), &program, &npy_words(&folder, "inputs"), &npy_words(&folder, "outputs"));
    }
}

/// Rows of bytes, low byte first.
fn npy_words(folder: &Path, name: &str) -> Vec<BigUint> {
    let raw = fs::read(folder.join(name).with_extension("npy")).unwrap();
    let header = usize::from(u16::from_le_bytes([raw[8], raw[9]]));
    let text = std::str::from_utf8(&raw[10..10 + header]).unwrap();
    let shape = text.split("'shape': (").nth(1).unwrap().split(')').next().unwrap();
    let columns: usize = shape.split(',').nth(1).unwrap().trim().parse().unwrap();
    raw[10 + header..].chunks_exact(columns).map(BigUint::from_bytes_le).collect()
}

#[test]
fn every_invalid_program_is_refused_with_its_reason_at_its_place() {
    let lines = lines("invalid/invalid.jsonl");
    assert_eq!(lines.len(), 103);
    for line in &lines {
        let (raw, place) = match field(line, "form") {
            "bytes" => (hex(field(line, "bytes")), Place::Byte(line["offset"].as_u64().unwrap())),
            _ => {
                let place = |key: &str| line[key].as_u64().unwrap();
                (field(line, "text").as_bytes().to_vec(), Place::Line { line: place("line"), column: place("column") })
            }
        };
        let problem = llvlir::read(&raw, Limits::default()).expect_err(field(line, "what"));
        let found = (problem.reason.name(), &problem.place);
        assert_eq!(found, (field(line, "reason"), &place), "{}: {problem:?}", line["what"]);
    }
}

/// Returns the message and the help for a program with one wrong line. `%0` has 8 bits, `%1` 32, `%x0` four lanes of 8.
fn said_of(line: &str) -> (String, String) {
    let head = "llvlir 0\nin %0 \"a\": i8\nin %1 \"w\": i32\nin %x0 \"v\": v4.i8\nin %m0 \"k\": m4\n";
    let text = format!("{head}{line}\nout \"y\" = %0\n");
    let problem = llvlir::read(text.as_bytes(), Limits::default()).unwrap_err();
    (problem.message, problem.help.unwrap_or_default())
}

#[test]
fn what_a_beginner_writes_is_answered_with_what_would_be_right() {
    for (line, message, help) in [
        // Names from elsewhere, and names with a wrong letter.
        ("%2 = shl.i8 %0, %0", "no operation shl.i8", "did you mean `sll.i32` or `sll.v4.i32`?"),
        ("%2 = mux.i8 %0, %0, %0", "no operation mux.i8", "did you mean `select.i32` or `select.v4.i32`?"),
        ("%2 = ADD.i8 %0, %0", "no operation ADD.i8", "did you mean `add.i32` or `add.v4.i32`?"),
        ("%2 = selct.i8 %0, %0, %0", "no operation selct.i8", "did you mean `select.i32` or `select.v4.i32`?"),
        ("%2 = andi.i8 %0, 3", "no operation andi.i8", "`and` accepts registers only; `const` and `constu` load"),
        ("input %2 \"b\": i8", "no operation input", "a port is written `in %0 \"name\": i32`"),
        ("%2 = frobnicate.i8 %0", "no operation frobnicate.i8", ""),
        // Parameters.
        ("%2 = sext.i32 %0", "fit no operation", "it is written sext.i32.i8 or sext.v4.i32.i8"),
        ("%2 = trunc.i8 %1", "fit no operation", "it is written trunc.i8.i32 or trunc.v4.i8.i32"),
        ("%x1 = mul.v4.i8.q %x0, %x0, %m0", "fit no operation", "mul.i32 or mul.v4.i32 or mul.v4.i32.d"),
        // Numbers for registers, registers for numbers, a mask that was forgotten.
        ("%2 = srl.i8 %0, 3", "expected a register", "`srli` takes a number here"),
        ("%2 = xor.i8 %0, 3", "expected a register", "load the number into a register first"),
        ("%2 = srli.i8 %0, %1", "expected a number", "`srl` takes a register here"),
        ("%x1 = neg.v4.i8 %x0", "neg.VI takes 2 operands: a vector, a mask", "`mvm` converts an integer to a mask"),
        ("%2 = add.i8 %0", "add.I takes 2 operands: an integer, an integer", ""),
        ("%f2 = add.i8 %0, %0", "not a register", "%x0 a vector"),
        // Widths and ranges.
        (
            "%2 = add.i32 %1, %0",
            "%0 has 8 bits, add.I takes 32 bits",
            "`zext.i32.i8 %0` widens it with zeros, `sext.i32.i8 %0`",
        ),
        ("%2 = add.i8 %0, %1", "%1 has 32 bits, add.I takes 8 bits", "`trunc.i8.i32 %1` narrows it"),
        ("%x1 = neg.v4.iv9 %x0, %m0", "4 lanes of 8 bits", "`zext.v4.iv9.i8 %x0, MASK` widens it"),
        ("%x1 = neg.v8.i8 %x0, %m0", "%x0 has 4 lanes of 8 bits, neg.VI takes 8 lanes", ""),
        ("%2 = const.i8 255", "255 is outside -128 ... 127", "`constu` takes 0 ... 255"),
        ("%2 = const.i8 256", "256 is outside -128 ... 127", ""),
        ("%2 = constu.i8 -1", "-1 is outside 0 ... 255", "`const` takes -128 ... 127"),
        ("%x1 = splati.v4.i8 200, %m0", "200 is outside", "`splatui` takes 0 ... 255"),
    ] {
        let (said, helped) = said_of(line);
        assert!(said.contains(message), "{line}: {said}");
        let right = if help.is_empty() { helped.is_empty() } else { helped.contains(help) };
        assert!(right, "{line}: {said}: {helped}");
    }
    let (said, _) = said_of(&format!("%2 = {} %0", "a".repeat(100_000)));
    assert!(said.len() < 100, "a message of {} bytes", said.len());
}

#[test]
fn every_spelling_that_is_proposed_is_one_that_the_reader_knows() {
    let mut count = 0;
    for row in llvlir::rows::ROWS.iter().filter(|row| !row.is_refused()) {
        // No row has these parameters.
        let (said, help) = said_of(&format!("%2 = {}.q.q.q %0", row.name));
        assert!(said.contains("fit no operation"), "{said}");
        for word in help.strip_prefix("it is written ").unwrap().split(" or ") {
            let (said, _) = said_of(word);
            assert!(!said.contains("fit no operation") && !said.contains("no operation"), "{word}: {said}");
            count += 1;
        }
    }
    assert!(count >= 178, "{count}");
}

/// The program as ALIR, its ports those of the program.
fn lowered(program: &Program) -> alir2hdl::ir::Model {
    let model = llvlir::lower::lower(program, &alir2hdl::ir::Limits::default()).unwrap_or_else(|d| panic!("{d}"));
    let (inputs, outputs) = (program.input_elements(), program.output_elements());
    assert_eq!((model.n_inputs(), model.outputs().len()), (inputs.len(), outputs.len()));
    let kif = |element: &llvlir::program::Element| alir2hdl::num::Kif {
        signed: element.signed,
        int: element.width as i32 - i32::from(element.signed),
        frac: 0,
    };
    for (port, element) in model.input_kifs().iter().zip(&inputs) {
        assert_eq!(*port, kif(element));
    }
    for (j, element) in outputs.iter().enumerate() {
        assert_eq!(model.output_kif(j), kif(element));
    }
    model
}

fn run_lowered(model: &alir2hdl::ir::Model, inputs: &[BigInt]) -> Vec<BigInt> {
    let inputs: Vec<BigInt> =
        inputs.iter().zip(model.input_kifs()).map(|(v, kif)| alir2hdl::num::wrap(v, *kif)).collect();
    let mut promise = None;
    let outputs = golden_steps(model, &inputs, LookupMiss::Error, |step| {
        if step.exceeds_declared_range(model) {
            promise = Some(format!("{step:?}"));
        }
    });
    assert_eq!(promise, None, "an interval that an input leaves");
    outputs.unwrap_or_else(|miss| panic!("{miss}"))
}

fn check_lowered(name: &str, program: &Program, inputs: &[BigUint], outputs: &[BigUint]) {
    let model = lowered(program);
    let (inp, out) = (program.input_elements(), program.output_elements());
    for (k, (input, output)) in inputs.iter().zip(outputs).enumerate() {
        let got = packed(&run_lowered(&model, &elements(input, &inp)), &out);
        assert_eq!(got, *output, "{name}, sample {k}:\n{}", text::write(program));
    }
}

#[test]
fn lowered_rows_and_random_programs_are_what_the_interpreter_says() {
    for name in ["rows/rows.jsonl.gz", "random/random.jsonl.gz", "rows/spellings.jsonl"] {
        for line in lines(name) {
            let program = text::read(field(&line, "text").as_bytes(), Limits::default()).unwrap();
            check_lowered(field(&line, "name"), &program, &words(&line, "inp"), &words(&line, "out"));
        }
    }
}

#[test]
fn lowered_real_programs_are_what_the_interpreter_says() {
    for folder in real_programs() {
        let program = llvlir::read(&fs::read(folder.join("program.llvlir")).unwrap(), Limits::default()).unwrap();
        check_lowered(
            &folder.display().to_string(),
            &program,
            &npy_words(&folder, "inputs"),
            &npy_words(&folder, "outputs"),
        );
    }
}

fn real_programs() -> Vec<PathBuf> {
    let folders = fs::read_dir(data("")).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = folders.filter(|folder| folder.join("program.llvlir").exists()).collect();
    folders.sort();
    assert_eq!(folders.len(), 14);
    folders
}

/// A pattern of a port: corners in the first rows, then random ones, some of them sparse or nearly full.
fn pattern(port: usize, width: u32, row: u64, random: &mut impl FnMut() -> u64) -> BigInt {
    let modulus = BigInt::from(1) << width;
    let corners = [BigInt::ZERO, &modulus - 1, &modulus >> 1u32, (&modulus >> 1u32) - 1, BigInt::from(1)];
    // Every pair of corners of two adjacent ports.
    if row < 25 {
        let which = if port.is_multiple_of(2) { row % 5 } else { row / 5 };
        return &corners[which as usize] % &modulus;
    }
    let mut word = || (0..width.div_ceil(64)).fold(BigInt::ZERO, |word, _| (word << 64u32) | BigInt::from(random()));
    let value = match row % 4 {
        0 => word() & word() & word(),
        1 => word() | word() | word(),
        2 => word() & BigInt::from(255),
        _ => word(),
    };
    value % modulus
}

/// A program whose comparisons are carries and borrows, and some that only look so.
fn carries(ty: &str) -> Program {
    let mut text = format!("llvlir 0\nin %0 \"a\": {ty}\nin %1 \"b\": {ty}\n%2 = add.{ty} %0, %1\n");
    let mut next = 3;
    for line in [
        "cmps.T ltu, %2, %0",
        "cmps.T gtu, %1, %2",
        "cmps.T geu, %2, %1",
        "cmps.T leu, %0, %2",
        "sub.T %0, %1",
        "cmps.T ltu, %0, %1",
        "sub.T %1, %0",
        "cmps.T leu, %0, %1",
        // Sums with themselves, comparisons the other way round, signed ones, and with what is no term.
        "add.T %2, %2",
        "cmps.T ltu, %11, %2",
        "cmps.T ltu, %0, %2",
        "cmps.T lt, %2, %0",
        "cmps.T ltu, %2, %7",
        "addu.T %7, %0",
        "cmps.T geu, %16, %7",
    ] {
        text += &format!("%{next} = {}\n", line.replace('T', ty));
        next += 1;
    }
    (2..next).for_each(|k| text += &format!("out \"y{k}\" = %{k}\n"));
    text::read(text.as_bytes(), Limits::default()).unwrap_or_else(|problem| panic!("{}: {problem:?}", text))
}

#[test]
fn carries_and_borrows_are_what_the_interpreter_says() {
    for width in [1u32, 2, 5, 8, 32, 64, 100] {
        let program = carries(&format!("iv{width}"));
        let model = lowered(&program);
        let (optimised, _) = alir2hdl::passes::run(&model, alir2hdl::passes::pipeline(2));
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for row in 0..500 {
            let inputs: Vec<BigInt> = (0..2).map(|k| pattern(k, width, row, &mut random)).collect();
            let expected = golden::run(&program, &inputs);
            assert_eq!(run_lowered(&model, &inputs), expected, "{width} bits: {inputs:?}");
            let codes: Vec<BigInt> =
                inputs.iter().zip(model.input_kifs()).map(|(v, kif)| alir2hdl::num::wrap(v, *kif)).collect();
            let found = alir2hdl::interp::golden(&optimised, &codes, LookupMiss::Zero).unwrap();
            assert_eq!(found, expected, "optimised, {width} bits: {inputs:?}");
        }
    }
}

#[test]
fn a_carry_or_borrow_takes_no_comparator() {
    for (operation, comparison) in [
        ("add.i32 %0, %1", "ltu, %2, %0"),
        ("add.i32 %0, %1", "leu, %1, %2"),
        ("sub.i32 %0, %1", "ltu, %0, %1"),
        ("subu.i32 %1, %0", "leu, %0, %1"),
    ] {
        let text = format!(
            "llvlir 0\nin %0 \"a\": i32\nin %1 \"b\": i32\n%2 = {operation}\n%3 = cmps.i32 {comparison}\n\
             out \"y\" = %2\nout \"c\" = %3\n"
        );
        let program = text::read(text.as_bytes(), Limits::default()).unwrap();
        let (optimised, _) = alir2hdl::passes::run(&lowered(&program), alir2hdl::passes::pipeline(1));
        let adders = optimised.nodes().iter().filter(|node| {
            use alir2hdl::ir::Op;
            matches!(node.op, Op::Add { .. } | Op::Sub { .. } | Op::AddConst { .. } | Op::Sum { .. })
        });
        assert_eq!(adders.count(), 1, "{operation}, {comparison}");
    }
}

/// Every eighth single row over the widths of the contract: interpreter, lowered and optimised program on ten thousand
/// patterns.
fn ten_thousand_patterns(share: usize) {
    let limits = alir2hdl::ir::Limits::default();
    for (k, line) in lines("rows/rows.jsonl.gz").iter().enumerate().filter(|(k, _)| k % 8 == share) {
        let program = text::read(field(line, "text").as_bytes(), Limits::default()).unwrap();
        let model = alir2hdl::llvlir::lower::lower(&program, &limits).unwrap_or_else(|d| panic!("{d}"));
        let (optimised, _) = alir2hdl::passes::run(&model, alir2hdl::passes::pipeline(2));
        let mut state = 0x9e37_79b9_7f4a_7c15u64 ^ k as u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let ports = program.input_elements();
        for row in 0..10_025 {
            let each = ports.iter().enumerate();
            let inputs: Vec<BigInt> = each.map(|(k, port)| pattern(k, port.width, row, &mut random)).collect();
            let expected = golden::run(&program, &inputs);
            assert_eq!(run_lowered(&model, &inputs), expected, "{}: {inputs:?}", field(line, "name"));
            // Values that passes excluded from an interval are unused, so its promise does not apply.
            let codes: Vec<BigInt> =
                inputs.iter().zip(model.input_kifs()).map(|(v, kif)| alir2hdl::num::wrap(v, *kif)).collect();
            let found = alir2hdl::interp::golden(&optimised, &codes, LookupMiss::Zero).unwrap();
            assert_eq!(found, expected, "optimised {}: {inputs:?}", field(line, "name"));
        }
    }
}

macro_rules! shares {
    ($($name:ident $share:literal)*) => {
        $(
            #[test]
            #[ignore = "long: ten thousand patterns for an eighth of the rows (minutes)"]
            fn $name() {
                ten_thousand_patterns($share);
            }
        )*
    };
}

shares! {
    ten_thousand_patterns_0 0
    ten_thousand_patterns_1 1
    ten_thousand_patterns_2 2
    ten_thousand_patterns_3 3
    ten_thousand_patterns_4 4
    ten_thousand_patterns_5 5
    ten_thousand_patterns_6 6
    ten_thousand_patterns_7 7
}
