//! The examples in the documentation of the crates: each test function is the example in the `lib.rs` of one crate.

use alir_testing::repository;

#[test]
fn core() {
    use alir_core::ir::{Builder, Op, Output};
    use alir_core::num::Interval;

    let mut builder = Builder::new(vec![0, 0]);
    let [a, b] = [0, 1].map(|input| builder.op(Op::Input { input }, Interval::new(-8, 7, 0)));
    let sum = builder.op(Op::Add { a, b, shift: 0 }, Interval::new(-16, 14, 0));
    builder.output(Output { source: Some(sum), shift: 0, neg: false });
    let model = builder.finish().expect("every rule of the specification holds");
    assert_eq!(model.nodes().len(), 3);
}

#[test]
fn formats() {
    use alir_core::ir::Limits;

    let (model, notes) =
        alir_formats::read_path("examples/jet_mlp.json.gz".as_ref(), &Limits::default(), None).unwrap();
    assert_eq!((model.n_inputs(), model.outputs().len(), notes.0.len()), (16, 5, 0));
}

#[test]
fn interp() {
    use alir_core::ir::Limits;
    use alir_interp::arrays::{ArrayEngine, ArrayRun, Numbers, Results};
    use alir_interp::{Plan, PlanOptions};

    let (model, _) = alir_formats::read_path("examples/jet_mlp.json.gz".as_ref(), &Limits::default(), None).unwrap();
    let plan = Plan::new(&model, PlanOptions::default());
    let samples = [vec![0.5; model.n_inputs()], vec![-1.0; model.n_inputs()]].concat();
    let mut outputs = vec![0.0; 2 * model.outputs().len()];
    let options = ArrayRun { threads: 1, stop: &|| false, rounds: false, evaluator: None };
    let engine = ArrayEngine::new(&model, &plan);
    engine
        .run(&plan, 2, Numbers::F64(&samples), Results::Reals(&mut outputs), options)
        .expect("outputs of both samples");
    assert_ne!(outputs[..5], outputs[5..]);
}

#[test]
fn opt() {
    use alir_core::ir::Limits;
    use alir_opt::passes;

    let (model, _) = alir_formats::read_path("examples/jet_mlp.json.gz".as_ref(), &Limits::default(), None).unwrap();
    let (smaller, _statistics) = passes::run(&model, passes::pipeline(1));
    assert!(smaller.nodes().len() < model.nodes().len());
}

#[test]
fn hw() {
    use alir_core::ir::Limits;
    use alir_hw::{emit, netlist};
    use alir_opt::schedule::{Goal, LatencyFields, schedule};

    let (model, _) = alir_formats::read_path("examples/jet_mlp.json.gz".as_ref(), &Limits::default(), None).unwrap();
    let found = schedule(&model, &LatencyFields, &Goal::stages(3), &netlist::uses(&model)).expect("some schedule");
    let netlist = netlist::lower(&model, &found.schedule, &netlist::Options::default());
    let verilog = emit::text(&netlist, emit::Language::Verilog, &emit::Options::default());
    assert!(verilog.contains("endmodule"));
}

#[test]
fn hdl() {
    use alir_hdl::{Language, read};

    let verilog = "module inc(input [3:0] x, output [3:0] y); assign y = x + 4'd1; endmodule";
    assert!(read(Language::Verilog, verilog, Some("inc")).is_ok());
    let error = read(Language::Verilog, "module inc(input x); initial forever #1; endmodule", None).unwrap_err();
    assert_eq!(error.code, "E0903", "{error}");
}

#[test]
fn prove() {
    use alir_core::ir::Limits;
    use alir_opt::passes;
    use alir_prove::equiv::{Request, Verdict};
    use alir_prove::{pair, sat::Embedded};

    let (model, _) = alir_formats::read_path("examples/jet_mlp.json.gz".as_ref(), &Limits::default(), None).unwrap();
    let (smaller, _) = passes::run(&model, passes::pipeline(1));
    let (report, difference) = pair::prove(&model, &smaller, &Request::default(), &|| Box::new(Embedded));
    assert!(matches!(report.verdict, Verdict::Proved) && difference.is_none());
}

#[test]
fn cmvm() {
    use alir_cmvm::{Input, Matrix, Options, check, solve};
    use alir_core::num::Interval;

    let matrix = Matrix::from_integers(2, 2, &[3, 5, 7, -9]);
    let inputs = vec![Input::new(Interval::new(-128, 127, 0)); 2];
    let graph = solve(&matrix, &inputs, &Options::default()).expect("a graph");
    check(&graph, &matrix).expect("the product with the matrix");
}

#[test]
fn network() {
    use alir_network::onnx;

    let bytes = std::fs::read("examples/perceptron.onnx").unwrap();
    let network = onnx::read(&bytes, &onnx::Options::default()).expect("every operator is known");
    assert!(network.size.weights() > 0 && network.size.adders() > 0);
}

#[test]
fn llvlir() {
    use alir_core::ir;
    use alir_llvlir::{Limits, lower::lower, read};

    let source = b"llvlir 0\nin %0 \"a\": i8\nin %1 \"b\": i8\n%2 = add.i8 %0, %1\nout \"sum\" = %2\n";
    let program = read(source, Limits::default()).expect("a valid program");
    let model = lower(&program, &ir::Limits::default()).expect("an ALIR model of it");
    assert_eq!((model.n_inputs(), model.outputs().len()), (2, 1));
}

#[test]
fn flow() {
    use alir_core::ir::Limits;
    use alir_flow::compile::{self, Pipeline, Spec, Stages};
    use alir_hw::emit::Language;

    let (model, _) = alir_formats::read_path("examples/jet_mlp.json.gz".as_ref(), &Limits::default(), None).unwrap();
    let pipeline = Pipeline { stages: Some(Stages::Exactly(3)), ..Pipeline::default() };
    let hardware = compile::model(&model, &Spec { pipeline, ..Spec::default() }).expect("three stages");
    assert!(hardware.text(Language::Verilog).contains("endmodule"));
}

#[test]
fn the_documentation_has_these_examples() {
    let own = include_str!("crate_examples.rs");
    let mut compared = 0;
    for part in own.split("#[test]\nfn ").skip(1) {
        let (name, body) = part.split_once("() {\n").expect("a function");
        if name == "the_documentation_has_these_examples" {
            continue;
        }
        let body = body.split_once("\n}\n").expect("its end").0;
        let expected: String = body
            .lines()
            .map(|line| format!("//! {}", line.strip_prefix("    ").unwrap_or(line)).trim_end().to_owned() + "\n")
            .collect();
        let file = repository().join("crates").join(name).join("src/lib.rs");
        let text = std::fs::read_to_string(&file).expect("a crate of that name");
        assert!(text.contains(&format!("//! ```\n{expected}//! ```\n")), "{}: expected\n{expected}", file.display());
        compared += 1;
    }
    assert_eq!(compared, 11);
}
