//! The library's flow from a design to hardware: the command line and `compile` generate the same output.

use crate::common::{body, run};
use alir2hdl::compile::{
    self, Clock, DelayModel, ErrorKind, ModuleSpec, Optimisation, Passes, Pipeline, Products, Source, Spec, Stages,
    Target, Text, Theorem, Top,
};
use alir2hdl::emit::Language;
use alir2hdl::emit::axis::AxisOptions;
use alir2hdl::interp::{LookupMiss, golden};
use alir2hdl::ir::{Builder, Limits, Model, Node, Op, Output, ValueId};
use alir2hdl::netlist::{Ports, ResetOptions};
use alir2hdl::num::Interval;
use alir2hdl::verify::Vectors;
use alir2hdl::{device::Device, formats};
use num_bigint::BigInt;
use std::path::Path;

const MODEL: &str = "tests/data/models/tiny_ops/model.json.gz";

fn model(path: &str) -> Model {
    formats::read_path(path.as_ref(), &Limits::default(), None).expect("a valid model").0
}

/// Returns the program's output on stdout.
fn written(flag: &str, options: &[&str]) -> String {
    let (code, text, said) = run(Path::new("."), &[&[MODEL, flag, "-", "--quiet"], options].concat());
    assert_eq!(code, 0, "{said}");
    // The head names the command, which a library has none of.
    body(&text)
}

fn spec() -> Spec {
    Spec { module: ModuleSpec { top: Top::Named("mine".into()), ..ModuleSpec::default() }, ..Spec::default() }
}

#[track_caller]
fn assert_same(spec: &Spec, options: &[&str]) {
    let options = [options, &["--top", "mine"]].concat();
    let model = model(MODEL);
    let hardware = compile::model(&model, spec).unwrap();
    assert_eq!(hardware.text(Language::Verilog), written("--verilog", &options));
    assert_eq!(hardware.text(Language::Vhdl), written("--vhdl", &options));
}

#[test]
fn defaults_are_those_of_the_command_line() {
    assert_same(&spec(), &[]);
}

#[test]
fn every_part_of_a_spec_reaches_the_text_as_its_options_do() {
    let pipeline = Pipeline { stages: Some(Stages::Exactly(2)), register_inputs: true, ..Pipeline::default() };
    let reset = Some(ResetOptions { asynchronous: true, active_high: true, data: true });
    let module = ModuleSpec { ports: Ports::Split, valid: true, enable: true, reset, ..spec().module };
    assert_same(
        &Spec { pipeline: pipeline.clone(), module, ..spec() },
        &["--pipeline=2", "--register-inputs", "--ports=split", "--valid", "--enable", "--reset=async", "--reset-data"],
    );
    let target = Target {
        device: Some(Device::Series7),
        fallback: None,
        delays: Some(DelayModel::Device),
        products: Products::Logic,
    };
    let optimisation = Optimisation { passes: Passes::Level(2), ..Optimisation::default() };
    assert_same(
        &Spec { pipeline: pipeline.clone(), target: target.clone(), optimisation, ..spec() },
        &["--pipeline=2", "--register-inputs", "--device=7series", "--delay-model=device", "--use-dsp=no", "-O2"],
    );
    let fewest = Pipeline { stages: Some(Stages::Fewest), ..Pipeline::default() };
    let clock = Clock { period: Some(6.0), ..Clock::default() };
    assert_same(
        &Spec { pipeline: fewest, clock, target: Target { delays: None, ..target }, ..spec() },
        &["--pipeline=auto", "--clock-period=6", "--device=7series", "--use-dsp=no"],
    );
    let text = Text { keep_names: true, shreg_extract: Some(false), ..Text::default() };
    assert_same(
        &Spec { pipeline, wrapper: Some(AxisOptions::default()), text, ..spec() },
        &["--pipeline=2", "--register-inputs", "--wrapper=axis", "--keep-names", "--shreg-extract=no"],
    );
}

#[test]
fn another_name_changes_nothing_else() {
    let model = model(MODEL);
    let first = compile::model(&model, &spec()).unwrap();
    let second = first.named_like("signal").unwrap();
    assert_eq!(second.top(), "signal_m");
    let text = second.text(Language::Verilog).replace("signal_m", "mine");
    assert_eq!(text, first.text(Language::Verilog));
}

#[test]
fn what_is_proved_is_told_and_what_cannot_be_is_refused() {
    let model = model(MODEL);
    let told = std::cell::RefCell::new(Vec::new());
    let listener = |line: &str| told.borrow_mut().push(line.to_owned());
    let spec = Spec { prove: true, ..spec() };
    let hardware = compile::compile_with_progress(&model, &spec, &listener).unwrap();
    let text = hardware.proved_text(Language::Vhdl, &listener).unwrap();
    assert_eq!(text, hardware.text(Language::Vhdl));
    let told = told.into_inner();
    assert!(told.iter().any(|line| line.starts_with("prove: Vhdl text against the model as read: proved")), "{told:?}");
    let assuming = Optimisation { assume_intervals: true, ..Optimisation::default() };
    let error = compile::model(&model, &Spec { optimisation: assuming, ..spec }).unwrap_err();
    assert_eq!((error.kind, error.diagnostics.0[0].code), (ErrorKind::Request, "E0303"));
}

#[test]
fn wishes_that_contradict_are_all_told() {
    let model = model(MODEL);
    let module = ModuleSpec { top: Top::Named("9x".into()), enable: true, ..ModuleSpec::default() };
    let error = compile::model(&model, &Spec { module, ..Spec::default() }).unwrap_err();
    let codes: Vec<_> = error.diagnostics.0.iter().map(|d| d.code).collect();
    assert_eq!((error.kind, codes), (ErrorKind::Request, vec!["E0801", "E0601"]));
}

/// A front end whose lowering may be wrong: what it lowered from is a program too.
struct Lowered(Model);

impl Source for Lowered {
    fn kind(&self) -> &str {
        "source"
    }

    fn outputs(&self, inputs: &[BigInt]) -> Result<Vec<BigInt>, String> {
        golden(&self.0, inputs, LookupMiss::Zero).map_err(|miss| format!("{miss:?}"))
    }

    fn theorem(&self, _: &Model) -> Result<Theorem, String> {
        Ok(Theorem::Program(self.0.clone()))
    }
}

/// Two inputs of 4 and 2 bits; the output is one made of both.
fn two_inputs(op: impl Fn(ValueId, ValueId) -> Op) -> Model {
    let mut b = Builder::new(vec![0, 0]);
    let node = |op, interval| Node { op, interval, latency: 0.0, cost: 0.0, origin: 0 };
    let x = b.push(node(Op::Input { input: 0 }, Interval::new(-8, 7, 0)));
    let y = b.push(node(Op::Input { input: 1 }, Interval::new(0, 3, 0)));
    let result = b.push(node(op(x, y), Interval::new(-11, 10, 0)));
    b.output(Output { source: Some(result), shift: 0, neg: false });
    b.finish().unwrap()
}

#[test]
fn a_lowered_program_is_held_to_its_source() {
    let program = two_inputs(|a, b| Op::Add { a, b, shift: 0 });
    let other = two_inputs(|a, b| Op::Sub { a, b, shift: 0 });
    let spec = Spec { prove: true, ..spec() };
    let right = Lowered(program.clone());
    compile::lowered(&program, &right, &spec, &|_| {}).unwrap();
    let vectors = Vectors::random(&program, Some(&right), &spec, 50, 1).unwrap();
    assert_eq!(vectors, Vectors::random(&program, None, &spec, 50, 1).unwrap());
    let wrong = Lowered(other);
    let error = compile::lowered(&program, &wrong, &spec, &|_| {}).unwrap_err();
    assert_eq!((error.kind, error.diagnostics.0[0].code), (ErrorKind::Bug, "E0906"));
    assert_ne!(vectors.outputs, Vectors::random(&program, Some(&wrong), &spec, 50, 1).unwrap().outputs);
}

/// The example of the crate's documentation.
#[test]
fn the_example_of_the_library_compiles_a_model() {
    use alir2hdl::compile::{self, Pipeline, Spec, Stages};
    use alir2hdl::{emit::Language, formats, ir::Limits};

    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/jet_mlp.json.gz");
    let (model, _notes) = formats::read_path(example.as_ref(), &Limits::default(), None).expect("a model");
    let pipeline = Pipeline { stages: Some(Stages::Exactly(3)), ..Pipeline::default() };
    let hardware = compile::model(&model, &Spec { pipeline, ..Spec::default() }).expect("hardware");
    assert!(hardware.summary().to_string().contains("3 stages"), "{}", hardware.summary());
    assert_eq!(hardware.netlist.interface.latency, 3);
    assert!(hardware.text(Language::Verilog).contains("module model"));
}
