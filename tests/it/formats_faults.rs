//! Each fault of DAIS, of pipelines and of `.alirz` has its own message, and so has what a target cannot say.

use alir2hdl::formats::{self, Format, Target};
use alir2hdl::ir::{Builder, Limits, Model, Node, Op, Output};
use alir2hdl::num::{Code, Interval};
use flate2::read::DeflateEncoder;
use flate2::{Compression, Crc};
use num_bigint::BigInt;
use std::io::Read;

#[track_caller]
fn refused(bytes: impl AsRef<[u8]>, format: Option<Format>, code: &str, says: &str) {
    let problems = formats::read(bytes.as_ref(), &Limits::default(), format).expect_err(says);
    assert_eq!(problems.0[0].code, code, "{problems}");
    assert!(problems.to_string().contains(says), "{says:?} in {problems}");
    assert!(problems.0[0].help.is_some(), "{problems}");
}

#[track_caller]
fn notes(text: &str) -> Vec<&'static str> {
    let (_, notes) = formats::read(text.as_bytes(), &Limits::default(), None).unwrap_or_else(|e| panic!("{e}"));
    notes.0.iter().map(|n| n.code).collect()
}

/// A DAIS model of `n_in` inputs, all of them outputs.
fn stage(n_in: usize, more: &str) -> String {
    let list = |of: &dyn Fn(usize) -> String| (0..n_in).map(of).collect::<Vec<_>>().join(",");
    let zeros = list(&|_| "0".into());
    let idxs = list(&|k| k.to_string());
    let ops = list(&|k| format!("[{k},-1,-1,0,[-8,7,1],0,0]"));
    format!("[[{n_in},{n_in}],[{zeros}],[{idxs}],[{zeros}],[{zeros}],[{ops}{more}],1,-1,null]")
}

#[test]
fn dais_without_a_header() {
    assert_eq!(notes(&stage(2, "")), [""; 0]);
    // Records of ALIR 3 and 4 are younger than headers.
    refused(stage(1, ",[[0],-2,[],[-7,8,1],0,0]"), None, "E0127", "6 elements in a file of version 2 or older");
    refused(stage(1, ",[0,-1,12,0,[-8,7,1],0,0]"), None, "E0128", "unknown opcode 12");
    refused(stage(1, ",[0,-1,-4,0,[-8,7,1],0,0]"), None, "E0128", "unknown opcode -4");
    let first = |opcode: &str| format!("[[1,1],[0],[0],[0],[0],[[0,-1,{opcode},0,[-8,7,1],0,0]],1,1]");
    refused(first("-7"), None, "E0128", "-3 to 10, -6 and -9");
    refused(first("-7"), Some(Format::Dais2), "E0128", "-2 to 10");
    refused(first("-1"), Some(Format::Alir), "E0120", "this one is an array");
    refused("{}", Some(Format::Dais), "E0120", "this file is an object");
    refused(stage(1, ",[0,0,11,0,[-8,7,1],0,0]"), None, "E0128", "opcode 11 in a record of version 2");
    refused(stage(1, ",[0,-1,9,3,[0,1,1],0,0]"), None, "E0129", "3");
    refused(stage(1, ",[0,0,10,17179869184,[-8,7,1],0,0]"), None, "E0138", "bits 34 to 55");
    refused(stage(1, ",[5,-1,-3,0,[-8,7,1],0,0]"), None, "E0207", "model.ops[1].id0");
    // What the old meaning has and version 2 has not.
    refused(stage(1, ",[0,-1,-3,0,[-8,7,1],0,0]"), Some(Format::Dais2), "E0128", "negate with opcode -2 first");
    refused(stage(1, ",[0,0,10,4294967296,[-8,7,1],0,0]"), Some(Format::Dais2), "E0138", "bits 32 to 55");
    refused("[]", None, "E0125", "0 elements");
    refused("[3]", None, "E0120", "shape");
    refused("[[1,1],[0]]", None, "E0125", "2 elements");
    refused(format!("{}x", stage(1, "")), None, "E0112", "");
}

#[test]
fn pipelines() {
    let pipeline = |stages: &[String]| format!("[[{}]]", stages.join(","));
    assert_eq!(notes(&pipeline(&[stage(2, ""), stage(2, "")])), ["N0104"]);
    assert_eq!(notes(&pipeline(&[stage(2, "")])), [""; 0]);
    refused(pipeline(&[stage(2, ""), stage(3, "")]), None, "E0143", "3 inputs, but the stage before has 2 outputs");
    refused(format!("[[{}],[{}]]", stage(1, ""), stage(1, "")), None, "E0125", "2 elements around the stages");
    let bad = ",[0,-1,12,0,[-8,7,1],0,0]";
    refused(pipeline(&[stage(1, ""), stage(1, bad)]), None, "E0128", "stages[1].model.ops[1]");
    let named = |meta: &str, model: &str| format!(r#"{{"meta":"{meta}","spec_version":2,"model":{model}}}"#);
    let two = pipeline(&[stage(1, ""), stage(1, "")]);
    assert_eq!(notes(&named("ALIRPipeline", &two)), ["N0104"]);
    refused(named("ALIRModel", &two), None, "E0121", "but the model is a list of stages");
    refused(named("ALIRPipeline", &stage(1, "")), None, "E0121", "but the model is no list of stages");
}

type Columns = [Vec<u8>; 13];

/// An input of 4 signed bits and its negation, by the book (`docs/alirz.md`).
fn columns() -> Columns {
    let mut all = Columns::default();
    // Inputs, outputs, tables, pairs of delays; carry_size 1, adder_size -1; no shift; the last operation, as it is.
    all[0] = vec![1, 1, 0, 1, 2, 1, 0, 1, 0];
    // An input of all codes of a signed type, a negation as predicted.
    all[1] = vec![0x31, 0x00];
    all[2] = vec![0];
    all[7] = vec![0];
    all[8] = vec![0, 4];
    all[9] = vec![0, 0];
    // A delay of 0 and a cost of 1.
    all[10] = vec![0, 0xbf, 0xe0, 0x03];
    all
}

fn sealed(mut file: Vec<u8>) -> Vec<u8> {
    let mut crc = Crc::new();
    crc.update(&file);
    file.extend(crc.sum().to_le_bytes());
    file
}

fn leb(mut n: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while n >= 0x80 {
        bytes.push(n as u8 | 0x80);
        n >>= 7;
    }
    bytes.push(n as u8);
    bytes
}

/// Magic, version and the lengths of the columns.
fn head(columns: &Columns) -> Vec<u8> {
    let mut file = b"\x8aALIRZ\r\n\x01".to_vec();
    columns.iter().for_each(|column| file.extend(leb(column.len())));
    file
}

fn file(columns: &Columns) -> Vec<u8> {
    let body = columns.concat();
    sealed([head(columns), vec![13, 0], leb(body.len()), body].concat())
}

#[test]
fn alirz_by_the_book() {
    let (model, _) = formats::read(file(&columns()).as_slice(), &Limits::default(), None).unwrap();
    let mut ours = Builder::new(vec![0]);
    ours.cost_model(1, -1);
    let node = |op, interval, origin| Node { op, interval, latency: 0.0, cost: 1.0, origin };
    let x = ours.push(node(Op::Input { input: 0 }, Interval::new(-8, 7, 0), 0));
    let y = ours.push(node(Op::Neg { x }, Interval::new(-7, 8, 0), 1));
    ours.output(Output { source: Some(y), shift: 0, neg: false });
    assert_eq!(model, ours.finish().unwrap());

    // The bytes in halves: 0, 1 and 2 are frequent, the twelve other bytes follow.
    let body = columns().concat();
    let half = |b: &u8| if *b < 3 { *b } else { 15 };
    let mut halves = vec![3, 0, 1, 2];
    halves.extend(body.chunks(2).map(|two| half(&two[0]) | two.get(1).map_or(0, half) << 4));
    halves.extend(body.iter().filter(|b| **b >= 3));
    let file = sealed([head(&columns()), vec![13, 2], leb(halves.len()), halves].concat());
    assert_eq!(formats::read(file.as_slice(), &Limits::default(), None).unwrap().0, model);
}

#[test]
fn each_fault_of_a_column_has_its_message() {
    let with = |column: usize, bytes: &[u8], says: &str| {
        let mut all = columns();
        all[column] = bytes.to_vec();
        refused(file(&all), None, "E0163", says);
    };
    with(0, &[], "at head: its column has no more bytes");
    with(0, &[1, 1, 0, 1, 2, 1, 0, 9, 0], "an output 9 operations before the end");
    with(0, &[1, 1, 0, 2, 2, 1, 0, 1, 0], "2 of 1 pairs hold delays");
    with(0, &[1, 1, 0, 1, 2, 1, 0x80, 0x80, 0x80, 0x80, 0x10, 1, 0], "a shift of 2147483648");
    with(0, &[1, 1, 1, 1, 2, 1, 0, 1, 0], "at lookup_tables[0]: its column has no more bytes");
    with(1, &[0x31, 0x0f], "no such opcode");
    with(1, &[0x31, 0x0e], "no such opcode");
    with(1, &[0x51, 0x00], "no such way to say an interval");
    with(2, &[5], "at ops[1]: an operand before the first operation");
    with(2, &[], "at ops[1]: its column has no more bytes");
    with(2, &[0x80], "at ops[1]: its column has no more bytes");
    let far = |far: &[u8], says: &str| {
        let mut all = columns();
        (all[2], all[12]) = (vec![0x80], far.to_vec());
        refused(file(&all), None, "E0163", says);
    };
    far(&[0], "groups that say nothing");
    far(&[0x81, 0], "groups that say nothing");
    far(&[0xff; 11], "a number of too many bits");
    far(&[1], "at ops[1]: an operand before the first operation");
    far(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], "at ops[1]: an operand before the first operation");
    with(12, &[1], "at column 12: bytes behind its last number");
    with(2, &[0, 0], "at column 2: bytes behind its last number");
    with(7, &[1], "no such input");
    with(8, &[0, 0xff, 0xff, 0x7f], "a type wider than --max-width");
    with(9, &[0, 3], "a pair of delay and cost that does not exist");
    with(10, &[0, 0, 0], "at pairs: its column has no more bytes");
    with(10, &[0, 0xbf, 0xe0, 0x83, 0], "at pairs: a number of too many bits");
    let two = |codes: &[u8], column: usize, bytes: &[u8], says: &str| {
        let mut all = columns();
        (all[1], all[column]) = (codes.to_vec(), bytes.to_vec());
        refused(file(&all), None, "E0163", says);
    };
    two(&[0x41, 0], 8, &[0, 2, 0], "an interval whose min is above its max");
    two(&[0x31, 5], 5, &[0xff, 0xff, 0xff, 0xff, 0x7f], "a shift beyond 32 bits");
    two(&[0x31, 11], 7, &[0, 3], "no such unary bit operation");
    two(&[0x31, 10], 7, &[0, 0], "no such table");
}

#[test]
fn each_fault_of_the_frame_has_its_message() {
    let all = columns();
    let body = all.concat();
    let n = body.len() as u8;
    let parts = |parts: &[u8]| sealed([head(&all), parts.to_vec()].concat());
    let whole = |count: u8, packing: u8, length: u8, body: &[u8]| parts(&[&[count, packing, length], body].concat());
    assert!(formats::read(whole(13, 0, n, &body).as_slice(), &Limits::default(), None).is_ok());
    refused(whole(0, 0, n, &body), None, "E0162", "a part of 0 columns");
    refused(whole(14, 0, n, &body), None, "E0162", "a part of 14 columns");
    refused(whole(13, 7, n, &body), None, "E0162", "unknown packing 7");
    refused(whole(13, 0, n + 1, &body), None, "E0162", "a part is longer than the file");
    refused(whole(13, 0, n - 1, &body[1..]), None, "E0162", "were announced");
    refused(whole(13, 1, n, &body), None, "E0162", "deflated data is corrupt");
    refused(whole(13, 0, n, &[&body[..], &[0]].concat()), None, "E0151", "1 bytes behind the last column");
    let mut packed = Vec::new();
    DeflateEncoder::new(&body[..], Compression::best()).read_to_end(&mut packed).unwrap();
    let deflated = |packed: &[u8]| whole(13, 1, packed.len() as u8, packed);
    assert!(formats::read(deflated(&packed).as_slice(), &Limits::default(), None).is_ok());
    refused(deflated(&packed[..packed.len() - 3]), None, "E0162", "deflated data ends early");
    refused(deflated(&[&packed[..], &[0; 2]].concat()), None, "E0162", "2 bytes behind the deflated data");
    for (other, says) in [([&body[..], &[0; 9]].concat(), "were announced"), (body[1..].to_vec(), "were announced")] {
        let mut packed = Vec::new();
        DeflateEncoder::new(&other[..], Compression::best()).read_to_end(&mut packed).unwrap();
        refused(deflated(&packed), None, "E0162", says);
    }
    let in_halves = |packed: &[u8]| {
        let file = whole(13, 2, packed.len() as u8, packed);
        formats::read(file.as_slice(), &Limits::default(), None).unwrap_err().0.remove(0)
    };
    let frequent = body.len().div_ceil(2);
    let halves = |fill: u8, others: usize| [vec![2, 0, 1], vec![fill; frequent], vec![0; others]].concat();
    for (packed, says) in [
        (vec![], "no number of frequent values"),
        (vec![16; 40], "16 frequent values"),
        (vec![9, 1, 2], "the frequent values end early"),
        (halves(0, 0)[..frequent].to_vec(), "the halves end early"),
        (halves(0x02, 0), "half 2 of 2 frequent values"),
        (halves(0x0f, 3), "the other values end early"),
        (halves(0x00, 1), "bytes behind the other values"),
    ] {
        let problem = in_halves(&packed);
        assert_eq!(problem.code, "E0162");
        assert!(problem.message.contains(says), "{says}: {}", problem.message);
    }
    // An odd number of bytes leaves a half, which must be empty.
    let mut odd = columns();
    odd[11] = vec![0; 1 - body.len() % 2];
    let body = odd.concat();
    assert!(body.len() % 2 == 1);
    let mut packed = vec![0];
    packed.extend(body.chunks(2).map(|two| if two.len() == 2 { 0xff } else { 0x1f }));
    packed.extend(&body);
    let file = sealed([head(&odd), vec![13, 2], leb(packed.len()), packed].concat());
    refused(file, None, "E0162", "something in the half behind the last");
    refused(parts(&[]), None, "E0162", "the list of columns ends early");
    let mut greedy = b"\x8aALIRZ\r\n\x01".to_vec();
    greedy.extend(leb(1 << 40));
    refused(sealed(greedy), None, "E0104", "larger than the limit");
}

fn one_output(n_in: usize, build: impl FnOnce(&mut Builder)) -> Model {
    let mut builder = Builder::new(vec![0; n_in]);
    build(&mut builder);
    let last = builder.nodes().len() as u32 - 1;
    builder.output(Output { source: Some(alir2hdl::ir::ValueId(last)), shift: 0, neg: false });
    builder.finish().unwrap()
}

#[track_caller]
fn cannot(model: &Model, target: Target, code: &str, says: &str) {
    let problems = formats::prepare(model, target).expect_err(says);
    assert_eq!(problems.0[0].code, code, "{problems}");
    assert!(problems.to_string().contains(says), "{says:?} in {problems}");
    assert!(problems.0[0].help.is_some(), "{problems}");
}

#[test]
fn what_a_target_cannot_say_names_the_operation() {
    use Target::{Alir2, Alir3, Alir4, Alirz, Bytecode2, Bytecode4, Dais1};
    // A constant of 70 bits: only .alirz holds it.
    let big = BigInt::from(5) << 68u32;
    let constant = one_output(0, |b| {
        b.op(Op::Const { value: Code::from(big.clone()) }, Interval::new(big.clone(), big.clone(), 0));
    });
    for target in [Alir2, Alir3, Alir4, Bytecode2, Bytecode4, Dais1] {
        cannot(&constant, target, "E1102", "71 bits");
    }
    assert!(formats::prepare(&constant, Alirz).is_ok());
    // A bound of 60 bits with 10 fractional ones is no double.
    let odd = one_output(1, |b| {
        b.op(Op::Input { input: 0 }, Interval::new(0, (1i64 << 60) + 1, 10));
    });
    for target in [Alir2, Alir3, Alir4] {
        cannot(&odd, target, "E1101", "at ops[0]: max of the interval");
    }
    for target in [Bytecode2, Bytecode4, Dais1, Alirz] {
        assert!(formats::prepare(&odd, target).is_ok(), "{target:?}");
    }
    // More terms than 16 bits count.
    let terms = one_output(1, |b| {
        let value = b.op(Op::Input { input: 0 }, Interval::new(0, 1, 0));
        let terms = (0..40_000).map(|_| alir2hdl::ir::Term { value, shift: 0, neg: false }).collect::<Vec<_>>();
        b.op(Op::Sum { terms: terms.into() }, Interval::new(0, 65_535, 0));
    });
    cannot(&terms, Bytecode4, "E1105", "sum of operation 1: 40000 terms");
    // Types beyond one byte.
    let deep = one_output(1, |b| {
        b.op(Op::Input { input: 0 }, Interval::new(0, 1, 200));
    });
    cannot(&deep, Bytecode4, "E1105", "input of operation 0: -199 integer bits");
    // JSON counts a table's entries from the operand's min.
    let far = one_output(1, |b| {
        let x = b.op(Op::Input { input: 0 }, Interval::new(-(1i64 << 28), (1 << 28) - 1, 0));
        let out = Interval::new(0, 3, 0);
        let table = alir2hdl::ir::Table { entries: vec![1, 2], out: out.clone(), hash: String::new(), inp_width: 29 };
        let table = b.table(table);
        b.op(Op::Lookup { x, table, base: Code::from(0) }, out);
    });
    cannot(&far, Alir4, "E1103", "268435456 zeros in front");
    assert!(formats::prepare(&far, Bytecode4).is_ok() && formats::prepare(&far, Alirz).is_ok());
}
