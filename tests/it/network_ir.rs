//! IR v2 networks: the golden evaluator gives the cases' outputs value by value, the lowered programs give what it
//! gives, and every broken input is refused with its place.

use alir2hdl::diag::Diagnostics;
use alir2hdl::interp::samples::array::{Array, Numbers};
use alir2hdl::interp::{LookupMiss, golden};
use alir2hdl::network::exact::Rational;
use alir2hdl::network::graph::golden::Golden;
use alir2hdl::network::graph::{Options, Structure, lower};
use alir2hdl::network::json::{self, Value};
use alir2hdl::network::port::ReferenceSemantics;
use std::fs;
use std::path::{Path, PathBuf};

fn data(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/network").join(folder)
}

fn reals(path: &Path) -> Vec<f64> {
    let array = Array::read(&mut fs::File::open(path).unwrap(), 1 << 20, 2).unwrap();
    let Numbers::Floats(reals) = array.numbers else { panic!("{} holds no floats", path.display()) };
    reals
}

fn texts(value: Option<&Value>) -> Vec<String> {
    value.unwrap().elements().unwrap().iter().map(|v| v.text().unwrap().to_string()).collect()
}

/// The options of a command line that was written for a folder.
fn options(folder: &Path, arguments: &[String]) -> Options {
    let mut options = Options::default();
    for pair in arguments[1..].chunks(2) {
        let path = folder.join(&pair[1]);
        match pair[0].as_str() {
            "--weights" => options.weights.push(path),
            "--quant" => options.quant = Some(path),
            "--weight-map" => options.weight_map = Some(path),
            "--nodes" => options.nodes = Some(pair[1].clone()),
            "--output-buffer" => options.output_buffers.push(pair[1].clone()),
            "--tokens" => options.tokens = pair[1].parse().unwrap(),
            "--position-offset" => options.position_offset = pair[1].parse().unwrap(),
            other => panic!("{other} is not known to this test"),
        }
    }
    options
}

fn read(folder: &Path, arguments: &[String]) -> Result<Golden, Diagnostics> {
    let options = options(folder, arguments);
    let bytes = fs::read(folder.join(&arguments[0])).unwrap();
    Structure::read(&bytes, &arguments[0], &options)?.bind(&options)
}

/// Every `every`-th sample of a case by the golden evaluator and by the lowered program.
fn case(name: &str, every: usize) {
    case_of("ir", name, every);
}

fn case_of(kind: &str, name: &str, every: usize) {
    check_case(&data(kind).join(name), every);
}

/// Compares every `every`-th sample of a folder's outputs with evaluator, lowered program and specification.
pub(crate) fn check_case(folder: &Path, every: usize) {
    let name = folder.display();
    let meta = json::parse(&fs::read(folder.join("meta.json")).unwrap(), 10_000).unwrap();
    let network = read(folder, &texts(meta.get("arguments"))).unwrap();
    let groups = |key: &str| -> Vec<(String, i64)> {
        let list = meta.get(key).unwrap().elements().unwrap().iter().map(|v| v.elements().unwrap());
        list.map(|v| (v[0].text().unwrap().to_string(), v[1].integer().unwrap())).collect()
    };
    let own = |all: &[alir2hdl::network::port::Group]| -> Vec<(String, i64)> {
        all.iter().map(|g| (g.name.clone(), g.size as i64)).collect()
    };
    if meta.get("inputs").is_some() {
        assert_eq!(own(network.input_groups()), groups("inputs"), "{name}");
        assert_eq!(own(network.output_groups()), groups("outputs"), "{name}");
    }
    let model = lower::lower(network.program(), &lower::Limits::default()).unwrap();
    let specification = network.specification().unwrap();
    assert_eq!(specification.input_kifs(), model.input_kifs(), "{name}");
    assert_eq!(specification.output_intervals(), model.output_intervals(), "{name}");
    let files = ["inputs.npy", "outputs.npy"].map(|file| reals(&folder.join(file)));
    let float = folder.join("float.npy");
    let float = if float.exists() { Some(reals(&float)) } else { None };
    let (inputs, outputs) = (network.inputs().len(), network.output_units().len());
    let samples = files[0].len() / inputs;
    assert!(meta.get("samples").is_none_or(|n| n.integer() == Some(samples as i64)), "{name}");
    assert_eq!(files[1].len(), samples * outputs, "{name}");
    for sample in (0..samples).step_by(every) {
        let row = &files[0][sample * inputs..(sample + 1) * inputs];
        let encode = |(x, input): (&f64, &alir2hdl::network::port::InputElement)| {
            input.encoder.code(&Rational::from_f64(*x).unwrap())
        };
        let codes: Vec<_> = row.iter().zip(network.inputs()).map(encode).collect();
        let exact = network.evaluate(&codes);
        let found: Vec<f64> = exact.iter().map(Rational::to_f64).collect();
        assert_eq!(found, files[1][sample * outputs..(sample + 1) * outputs], "{name}, sample {sample}");
        let lowered = golden(&model, &codes, LookupMiss::Error).unwrap();
        for (k, code) in lowered.iter().enumerate() {
            let value = Rational::from_code(code, model.output_kif(k).frac.into());
            assert_eq!(value, exact[k], "{name}, sample {sample}, output {k} of the lowered program");
        }
        let specified = golden(&specification, &codes, LookupMiss::Error).unwrap();
        assert_eq!(specified, lowered, "{name}, sample {sample}, the program that proofs are about");
        // The floating-point network is only a comparison: other orders of summation are as right.
        let Some(float) = &float else { continue };
        for (x, y) in network.evaluate_float(row).iter().zip(&float[sample * outputs..]) {
            assert!((x - y).abs() <= 1e-9 * (1.0 + y.abs()), "{name}, sample {sample}: {x} and {y}");
        }
    }
}

#[test]
fn hugging_face_names_and_the_seed_form() {
    case("hugging_face", 4);
}

#[test]
fn a_perceptron_with_relu() {
    case("mlp_relu", 4);
}

#[test]
fn every_rounding_and_overflow_mode() {
    case("modes", 1);
}

#[test]
fn projections_without_attention() {
    case("projections", 4);
}

#[test]
fn residuals_across_layers() {
    case("residual", 4);
}

#[test]
fn a_gated_block_with_padded_weights() {
    case("swiglu_padded", 1);
}

#[test]
fn every_table_function() {
    case("tables", 1);
}

#[test]
fn two_whole_blocks() {
    case("two_blocks", 4);
}

#[test]
fn transformer_blocks() {
    let folder = data("transformer");
    let mut names: Vec<String> =
        fs::read_dir(&folder).unwrap().map(|f| f.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    assert_eq!(names.len(), 9);
    for name in names {
        case_of("transformer", &name, 3);
    }
}

#[test]
fn a_language_model_is_listed_and_refused_for_its_size() {
    let folder = data("ir").join("qwen2_0_5b");
    let meta = json::parse(&fs::read(folder.join("meta.json")).unwrap(), 10_000).unwrap();
    let options = options(&folder, &texts(meta.get("arguments")));
    let structure = Structure::read(&fs::read(folder.join("net.json")).unwrap(), "net.json", &options).unwrap();
    assert_eq!((structure.graph.nodes.len(), structure.graph.buffers.len()), (264, 37));
    assert_eq!(structure.graph.layers(), (0..24).collect::<Vec<i64>>());
    let whole = Structure::read_untyped(&fs::read(folder.join("net.json")).unwrap(), "net.json", &Options::default());
    let whole = whole.unwrap();
    assert_eq!((whole.outline.calls.len(), whole.graph.warnings().0.len()), (264, 0));
    assert!(whole.outline.size.adders() < 4 * whole.outline.size.weights, "8 bits where a type is not known");
    let size = structure.outline.size;
    assert_eq!((size.weights, size.adders()), (13_074_432, 39_223_296));
    let error = structure.bind(&options).err().unwrap().to_string();
    for part in ["13074432", "39223296", "2000000", "mlp_up (layer 0)", "nodes[7]", "--nodes"] {
        assert!(error.contains(part), "{part} is not in {error}");
    }
}

#[test]
fn every_broken_input_is_refused_with_its_place() {
    let folder = data("invalid");
    let cases = json::parse(&fs::read(folder.join("cases.json")).unwrap(), 10_000).unwrap();
    let cases = cases.elements().unwrap();
    assert!(cases.len() >= 25, "only {} cases", cases.len());
    for case in cases.iter().filter(|case| case.get("kind").unwrap().text() == Some("ir")) {
        let name = case.get("name").unwrap().text().unwrap();
        let place = case.get("where").unwrap().text().unwrap();
        let arguments = texts(case.get("arguments"));
        let Err(found) = read(&folder, &arguments) else { panic!("{name} is accepted") };
        let text = found.to_string().replace(&format!("{}/", folder.display()), "");
        assert!(text.contains(place), "{name}: {place} is not in {text}");
    }
}
