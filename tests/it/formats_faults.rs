//! Each fault of DAIS and of pipelines has its own message, and so has what a target cannot say.

use alir2hdl::formats::{self, Format, Target};
use alir2hdl::ir::{Builder, Limits, Model, Op, Output};
use alir2hdl::num::{Code, Interval};
use num_bigint::BigInt;

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
    let layers = |stages: &[String]| {
        let read = formats::recognise(pipeline(stages).as_bytes(), &Limits::default(), None).expect("a pipeline");
        let by_operation: Vec<_> = (0..read.model.nodes().len()).map(|op| read.layers.layer(op)).collect();
        (read.layers.names().to_vec(), by_operation)
    };
    let names = ["model stage 1", "model stage 2"].map(str::to_owned).to_vec();
    assert_eq!(layers(&[stage(1, ""), stage(1, "")]), (names, vec![Some(0), Some(1)]));
    assert_eq!(layers(&[stage(1, "")]), (Vec::new(), vec![None]));
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
    use Target::{Alir2, Alir3, Alir4, Bytecode2, Bytecode4, Dais1};
    // A constant of 70 bits.
    let big = BigInt::from(5) << 68u32;
    let constant = one_output(0, |b| {
        b.op(Op::Const { value: Code::from(big.clone()) }, Interval::new(big.clone(), big.clone(), 0));
    });
    for target in [Alir2, Alir3, Alir4, Bytecode2, Bytecode4, Dais1] {
        cannot(&constant, target, "E1102", "71 bits");
    }
    // A bound of 60 bits and 10 fractional bits is no double.
    let odd = one_output(1, |b| {
        b.op(Op::Input { input: 0 }, Interval::new(0, (1i64 << 60) + 1, 10));
    });
    for target in [Alir2, Alir3, Alir4] {
        cannot(&odd, target, "E1101", "at ops[0]: max of the interval");
    }
    for target in [Bytecode2, Bytecode4, Dais1] {
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
    assert!(formats::prepare(&far, Bytecode4).is_ok());
}
